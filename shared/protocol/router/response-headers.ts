/** An answer is a workspace's own: no cache on the way may keep it. */
export const jsonHeaders = { 'content-type': 'application/json', 'cache-control': 'private, no-store' } as const;

/** No proxy on the way may hold a stream back or change it. */
export const streamHeaders = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
} as const;
