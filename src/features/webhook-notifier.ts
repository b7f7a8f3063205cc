/**
 * Wakes the sender of webhooks. `due`: deliveries of the endpoint are due. `changed`: the endpoint was
 * changed, disabled or deleted, so that what was read of it is void.
 */

export type WebhookNotice = { kind: 'due' | 'changed'; endpointId: string; projectId: string }

export type WebhookNotifier = {
  notify(notice: WebhookNotice): void
  /** Returns a function that removes the listener. */
  listen(listener: (notice: WebhookNotice) => void): () => void
}

export function createWebhookNotifier(): WebhookNotifier {
  const listeners = new Set<(notice: WebhookNotice) => void>()
  return {
    notify(notice) {
      for (const listener of listeners) listener(notice)
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
