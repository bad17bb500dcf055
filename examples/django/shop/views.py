from django.db import transaction
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from shop.models import Order
from shop.tasks import send_receipt


@csrf_exempt
@require_POST
@transaction.atomic
def place_order(request: HttpRequest) -> JsonResponse:
    """An order and its receipt: a rollback leaves neither."""
    order = Order.objects.create(item=request.POST["item"])
    send_receipt.submit_on_commit(order.pk)
    return JsonResponse({"order": order.pk}, status=201)
