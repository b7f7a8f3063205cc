/**
 * Wakes the sender of webhooks. `due`: deliveries of the endpoint are due. `changed`: the endpoint was
 * changed, disabled or deleted, so that what was read of it is void.
 */
import type { Notifier } from '../../work/loop.ts'

export type WebhookNotice = { kind: 'due' | 'changed'; endpointId: string; projectId: string }

export type WebhookNotifier = Notifier<WebhookNotice>
