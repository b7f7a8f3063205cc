import type { EventRecord } from '../../../../records/event.ts'
import type { Base } from '../../../ground/base.ts'
import { listContactEvents } from '../../../ground/events/list.ts'
import type { Listing } from '../../../ground/listing.ts'
import { type ContactKey, getContact } from '../read/get.ts'

/** Lists the newest events of a contact. @throws AppError CONTACT_NOT_FOUND, also for another project's */
export async function listEventsOfContact(
  deps: Pick<Base, 'store'>,
  { projectId, id, limit }: ContactKey & { limit: number },
): Promise<Listing<EventRecord, object>> {
  await getContact(deps, { projectId, id })
  return listContactEvents(deps, { contactId: id, projectId, limit })
}
