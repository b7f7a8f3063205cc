/**
 * The mark that a checkout of this server gives its subscription, in its metadata. Several servers may
 * share one account of Stripe: only a subscription with the mark of this one is cancelled when its project
 * is gone.
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Keyring } from '../../../config/keyring.ts'

/** The name of the metadata that hold the mark. */
export const MARK_KEY = 'server_mark'

const MARK_BYTES = 16

export function markOf({ keys }: Keyring, projectId: string): string {
  return digest(keys('checkout')[0], projectId).toString('hex')
}

/** Whether `mark` is the mark of the project, also one that was made with the previous secret. */
export function isMarkOf({ keys }: Keyring, projectId: string, mark: string | undefined): boolean {
  const given = Buffer.from(mark ?? '', 'hex')
  if (given.length !== MARK_BYTES) return false
  return keys('checkout').some((key) => timingSafeEqual(digest(key, projectId), given))
}

function digest(key: Parameters<typeof createHmac>[1], projectId: string): Buffer {
  return createHmac('sha256', key).update(projectId).digest().subarray(0, MARK_BYTES)
}
