/** A server writes a header `Date` to the second, and may have made it up to a second before. */
const ROUNDED = 1_000
const SLACK = 1_000

/**
 * How far the fleet's clock is ahead of the browser's, in milliseconds, by an answer that says this
 * time. The server wrote it at some time between the request and now, which is long where the page
 * was busy or the network slow: what that time explains is no difference.
 */
export function ahead(said: number, asked: number, now: number): number {
  const least = said - now - SLACK
  const most = said + ROUNDED - asked + SLACK
  if (least <= 0 && most >= 0) return 0
  return (least + most) / 2
}
