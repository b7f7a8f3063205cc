/** What the key of a request may do to contacts, and whose answers it may see. */

import type { TrackRights } from '../../features/people/contacts/events/event-queue.ts'
import type { Caller } from '../../features/tenancy/accounts/callers/caller.ts'

export function rightsOf(caller: Caller | null): TrackRights {
  if (caller?.kind !== 'key' || caller.key !== 'public') return 'all'
  return caller.project.publicKeyMayUpdate ? 'update' : 'add'
}

/**
 * The path under which an Idempotency-Key is known. A key that may only add sees no answer that the secret
 * key had, because the answer has the id of a contact.
 */
export function idempotentPath(caller: Caller | null, path: string): string {
  return rightsOf(caller) === 'add' ? `${path} (public key)` : path
}
