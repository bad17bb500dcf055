"""The tasks of the shop. `manage.py drumbeat run` finds this module by itself."""

from datetime import timedelta

from django.utils import timezone

from drumbeat import Context, Retry
from drumbeat.django import scheduled, task
from shop.models import Order, Receipt


@task(retry=Retry.linear(max_retries=5, delay=1))
def send_receipt(order_id: int) -> str:
    order = Order.objects.get(pk=order_id)
    receipt, _ = Receipt.objects.get_or_create(
        order=order, defaults={"text": f"Receipt for {order.item}"}
    )
    return receipt.text


@task(retry=Retry.linear(max_retries=5, delay=1))
async def count_orders(item: str) -> int:
    return await Order.objects.filter(item=item).acount()


@scheduled("0 2 * * *")
def forget_old_orders(ctx: Context) -> int:
    """Every night: delete the orders of last year."""
    deleted, _ = Order.objects.filter(created_at__lt=timezone.now() - timedelta(days=365)).delete()
    ctx.log.info("Old orders deleted", orders=deleted)
    return deleted
