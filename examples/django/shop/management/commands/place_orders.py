"""Place many orders, each with its job, in one transaction each."""

from django.core.management.base import BaseCommand, CommandParser
from django.db import DatabaseError, InterfaceError, close_old_connections, connection, transaction

from shop.models import Order
from shop.tasks import count_orders, send_receipt


class Command(BaseCommand):
    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("count", type=int)

    def handle(self, count: int, **_: object) -> None:
        placed = failed = 0
        while placed < count:
            try:
                with transaction.atomic():
                    order = Order.objects.create(item=f"item {placed % 10}")
                    send_receipt.options(connection=connection).submit_sync(order.pk)
                    count_orders.options(connection=connection).submit_sync(order.item)
            except (DatabaseError, InterfaceError):
                failed += 1
                close_old_connections()
            else:
                placed += 1
                if placed % 100 == 0:
                    self.stdout.write(f"placed {placed}, failed {failed}")
                    self.stdout.flush()
        self.stdout.write(f"done: {placed} placed, {failed} failed")
