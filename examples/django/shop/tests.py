"""`python manage.py test`: the shop with an empty store in memory."""

from datetime import timedelta

from django.test import TestCase, TransactionTestCase
from django.utils import timezone

from drumbeat.django import app
from drumbeat.testing import SyncIsolatedApp, isolated
from shop.models import Order, Receipt
from shop.tasks import forget_old_orders, send_receipt


class ShopTest(TestCase):
    def setUp(self) -> None:
        self.drumbeat = SyncIsolatedApp(self.enterContext(isolated(app)))

    def test_an_order_submits_its_receipt_when_it_is_committed(self) -> None:
        with self.captureOnCommitCallbacks(execute=True):
            response = self.client.post("/orders/", {"item": "tea"})
            self.drumbeat.assert_not_submitted(send_receipt)
        self.assertEqual(response.status_code, 201)
        self.drumbeat.assert_submitted(send_receipt, response.json()["order"])

    def test_a_receipt_is_written_once(self) -> None:
        order = Order.objects.create(item="tea")
        for _ in range(2):
            self.assertEqual(send_receipt(order.pk), "Receipt for tea")
        self.assertEqual(Receipt.objects.count(), 1)


class NightTest(TransactionTestCase):
    """Handlers that run as jobs have threads and connections of their own, so no transaction."""

    def setUp(self) -> None:
        self.drumbeat = SyncIsolatedApp(self.enterContext(isolated(app)))

    def test_old_orders_are_forgotten_every_night(self) -> None:
        order = Order.objects.create(item="tea")
        Order.objects.filter(pk=order.pk).update(created_at=timezone.now() - timedelta(days=366))
        with self.drumbeat.running():
            self.drumbeat.advance("1d")
        (job,) = self.drumbeat.assert_submitted(forget_old_orders, times=1)
        self.assertEqual(job.status, "completed", job.error)
        self.assertFalse(Order.objects.exists())
