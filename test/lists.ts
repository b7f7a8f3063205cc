/** Lists as a whole: the items that a reader gets, and how the list ends. */
import { listEvents as events } from '../src/features/ground/events/list.ts'
import { collect, type Listing } from '../src/features/ground/listing.ts'
import { listRequests as requests } from '../src/features/ground/requests/list.ts'
import { listActivity as activity } from '../src/features/insight/activity/list.ts'
import { listEmails as emails } from '../src/features/insight/emails/list-emails.ts'
import { showEmail as email } from '../src/features/insight/emails/show-email.ts'
import { listSuppressions as suppressions } from '../src/features/mail/suppressions/suppressions.ts'
import { listTemplates as templates } from '../src/features/mail/templates/list-templates.ts'
import { listRecipients as recipients } from '../src/features/outreach/campaigns/figures/recipients.ts'
import { listCampaigns as campaigns } from '../src/features/outreach/campaigns/show.ts'
import { listDeliveries as deliveries } from '../src/features/outreach/webhooks/deliveries/deliveries.ts'
import { listWorkflows as workflows } from '../src/features/outreach/workflows/definition/view.ts'
import {
  viewExecution as execution,
  listExecutions as executions,
} from '../src/features/outreach/workflows/executions/show-executions.ts'
import { listEventsOfContact as eventsOfContact } from '../src/features/people/contacts/events/contact-events.ts'
import { listContacts as contacts } from '../src/features/people/contacts/list/contact-list.ts'
import { listSegmentContacts as segmentContacts } from '../src/features/people/segments/segment-contacts.ts'
import { listSegments as segments } from '../src/features/people/segments/segments.ts'
import { listImages as images } from '../src/features/tenancy/uploads/project-images.ts'

type Of<List> = List extends (...given: infer Given) => Promise<Listing<infer Item, infer End>>
  ? { given: Given; item: Item; end: End }
  : never

/** Reads a page as the API does: up to 2 MB of JSON, one item at least. */
export async function readPage<Item, End>(listing: Listing<Item, End>) {
  const items: Item[] = []
  const walk = listing.walk()
  let bytes = 0
  let next = await walk.next()
  while (!next.done) {
    bytes += Buffer.byteLength(JSON.stringify(next.value)) + 1
    const isTaken = items.length === 0 || bytes <= 2 * 1024 * 1024
    if (isTaken) items.push(next.value)
    next = await walk.next(isTaken)
  }
  return { items, end: next.value }
}

/** A list by pages: `data` and the fields of its end. */
function paged<List extends (...given: never[]) => Promise<Listing<unknown, object>>>(list: List) {
  type Its = Of<List>
  return async (...given: Its['given']): Promise<{ data: Its['item'][] } & Its['end']> => {
    const { items, end } = await readPage(await list(...(given as never[])))
    return { data: items as Its['item'][], ...(end as Its['end']) }
  }
}

export const listActivity = paged(activity)
export const listContacts = paged(contacts)
export const listDeliveries = paged(deliveries)
export const listEmails = paged(emails)
export const listImages = paged(images)
export const listRecipients = paged(recipients)
export const listRequests = paged(requests)
export const listSuppressions = paged(suppressions)

export async function listEvents(...given: Parameters<typeof events>) {
  const { items, end } = await readPage(await events(...given))
  return { events: items, ...end }
}

export async function listEventsOfContact(...given: Parameters<typeof eventsOfContact>) {
  return (await collect(await eventsOfContact(...given))).items
}

export async function listTemplates(...given: Parameters<typeof templates>) {
  const [, { page }] = given
  // Pages by number are complete.
  const read = page === undefined ? readPage : collect
  const { items, end } = await read(await templates(...given))
  return { items, ...end }
}

export async function listSegments(...given: Parameters<typeof segments>) {
  return (await collect(await segments(...given))).items
}

export async function listSegmentContacts(...given: Parameters<typeof segmentContacts>) {
  const { listing, total } = await segmentContacts(...given)
  return { data: (await collect(listing)).items, total }
}

export async function listCampaigns(...given: Parameters<typeof campaigns>) {
  const { listing, ...counts } = await campaigns(...given)
  return { items: (await collect(listing)).items, ...counts }
}

export async function listWorkflows(...given: Parameters<typeof workflows>) {
  const { listing, total } = await workflows(...given)
  return { items: (await collect(listing)).items, total }
}

export async function listExecutions(...given: Parameters<typeof executions>) {
  const { listing, total } = await executions(...given)
  return { executions: (await collect(listing)).items, total }
}

export async function showEmail(...given: Parameters<typeof email>) {
  const { record, events: listing } = await email(...given)
  return { ...record, events: (await collect(listing)).items }
}

export async function viewExecution(...given: Parameters<typeof execution>) {
  const { record, steps } = await execution(...given)
  return { ...record, stepExecutions: (await collect(steps)).items }
}
