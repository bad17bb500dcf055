"""A shop: orders over HTTP, receipts as jobs.

flask --app shop run                    # the site
drumbeat run shop:drumbeat              # runs the jobs and fires the schedules
"""

from flask import Flask, current_app, g

from drumbeat import Context, every
from drumbeat.flask import FlaskDrumbeat
from drumbeat.model.errors import UnknownJob

drumbeat = FlaskDrumbeat("sqlite:///drumbeat.db")


@drumbeat.task
def send_receipt(order_id: int) -> str:
    g.order = order_id  # of this job only
    return f"{current_app.config['SHOP']}: receipt for order {g.order}"


@drumbeat.scheduled(every(minutes=5))
def sweep(ctx: Context) -> None:
    ctx.log.info("sweeping", shop=current_app.config["SHOP"])


def create_app() -> Flask:
    site = Flask(__name__)
    site.config["SHOP"] = "Tea and more"
    drumbeat.init_app(site)

    @site.post("/orders/<int:order_id>")
    def place_order(order_id: int) -> tuple[dict[str, int], int]:
        job = send_receipt.submit_sync(order_id)
        return {"job": job.id}, 202

    @site.get("/jobs/<int:job_id>")
    def show_job(job_id: int) -> tuple[dict[str, str | None], int]:
        try:
            job = drumbeat.sync.jobs.get(job_id)
        except UnknownJob as error:
            return {"error": str(error)}, 404
        return {"status": job.status, "receipt": send_receipt.result(job)}, 200

    return site


site = create_app()
