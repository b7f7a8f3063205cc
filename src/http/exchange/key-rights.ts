/**
 * The rights of the key of a request: what it may do to contacts, and which stored answers it may
 * see.
 */

import type { TrackRights } from '../../features/people/contacts/events/event-queue.ts'
import type { Caller } from '../../features/tenancy/accounts/callers/caller.ts'

export function rightsOf(caller: Caller | null): TrackRights {
  if (caller?.kind !== 'key' || caller.key !== 'public') return 'all'
  return caller.project.publicKeyMayUpdate ? 'update' : 'add'
}

/**
 * The path under which an Idempotency-Key is stored. A key that may only add has a path of its own: the
 * answer to the secret key has the id of a contact, which this key must not see.
 */
export function idempotentPath(caller: Caller | null, path: string): string {
  return rightsOf(caller) === 'add' ? `${path} (public key)` : path
}
