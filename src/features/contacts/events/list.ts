import type { Base } from '../../base.ts'
import { listContactEvents } from '../../events/list.ts'
import type { EventView } from '../../events/view.ts'
import type { Listing } from '../../listing.ts'
import { type ContactKey, getContact } from '../read/get.ts'

/** Lists the newest events of a contact. @throws AppError CONTACT_NOT_FOUND, also for another project's */
export async function listEventsOfContact(
  deps: Pick<Base, 'store'>,
  { projectId, id, limit }: ContactKey & { limit: number },
): Promise<Listing<EventView, object>> {
  await getContact(deps, { projectId, id })
  return listContactEvents(deps, { contactId: id, projectId, limit })
}
