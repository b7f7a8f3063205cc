/**
 * Inserts the emails of a stretch in one statement. It checks each contact again: that it exists under
 * the same address, that it may get the mail, and whether its address is suppressed or its domain
 * held. A contact that has an email of the campaign gets no second one.
 */
import { eachOf, indexedBy, jsonItem, orderedJoin, rowNumber } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { onShelves, SHELF, type Shelf } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

/** `variables`: JSON text. */
export type DraftRow = {
  id: string
  number: number
  contactId: string
  recipient: string
  recipientDomain: string
  variables: string
  dueAt: number
}

export type SharedColumns = {
  projectId: string
  campaignId: string
  contentId: string
  sourceType: string
  templateId: string | null
  fromAddress: string
  fromName: string | null
  replyTo: string | null
  subject: string
  contentClass: string
  isTracked: boolean
  senderDomain: string
  queueClass: number
  giveUpMs: number
  isForAll: boolean
  at: number
}

const item = (index: number) => jsonItem(sql`row.value`, index)

const contact = () =>
  sql`contacts.number, contacts.id, contacts.email as address, contacts.subscribed, contacts.data`

const shelf = (name: Shelf) => sql.raw(String(SHELF[name]))

const insertRows = statement(
  () => sql`insert into emails (id, project_id, contact_id, content_id, source_type, template_id,
      campaign_id, recipient, recipient_domain, from_address, from_name, reply_to, subject,
      content_class, is_tracked, variables, message_id, state, status, shelf, queue_class,
      due_at, give_up_at, held_at, created_at, updated_at)
    select id, ${parameter('projectId')}, contact_id, ${parameter('contentId')},
      ${parameter('sourceType')}, ${parameter('templateId')}, ${parameter('campaignId')},
      recipient, domain, ${parameter('fromAddress')}, ${parameter('fromName')},
      ${parameter('replyTo')}, ${parameter('subject')}, ${parameter('contentClass')},
      ${parameter('isTracked')}, variables, id || '@' || ${parameter('senderDomain')}, state,
      case state when 'suppressed' then 'SUPPRESSED' else 'PENDING' end,
      case state when 'suppressed' then ${shelf('suppressed')} when 'held' then ${shelf('held')}
        else ${shelf('queued')} end,
      ${parameter('queueClass')}, case state when 'queued' then due_at end,
      due_at + ${parameter('giveUpMs')}, case state when 'held' then ${parameter('at')} end,
      ${parameter('at')}, ${parameter('at')}
    from (
      select ${item(0)} as id, contacts.id as contact_id, contacts.email as recipient,
        ${item(4)} as domain, ${item(5)} as variables, ${item(6)} as due_at,
        case when exists (select 1 from suppressions
            where suppressions.project_id = contacts.project_id
              and suppressions.email = contacts.email) then 'suppressed'
          when exists (select 1 from holds where holds.domain = ${item(4)}) then 'held'
          else 'queued' end as state
      from ${eachOf(parameter('rows'))} as row
      ${orderedJoin()} contacts on contacts.number = ${item(1)}
      where contacts.id = ${item(2)} and contacts.email = ${item(3)}
        and contacts.project_id = ${parameter('projectId')}
        and (contacts.subscribed or ${parameter('isForAll')})
    )
    where true
    on conflict (campaign_id, contact_id) where campaign_id is not null do nothing`,
)

const findLastRow = statement<{ last: number | null }>(
  () => sql`select max(${rowNumber()}) as last from emails`,
)

/**
 * Lists the suppressed emails that were inserted after the row `last`. The index leads to
 * suppressed emails only, of which there are few.
 */
const listSuppressed = statement<{ id: string; contactId: string; recipient: string }>(
  () => sql`select id, contact_id as "contactId", recipient
    from emails ${indexedBy('emails_campaign_shelf')}
    where campaign_id = ${parameter('campaignId')} and ${onShelves('suppressed')}
      and ${rowNumber('emails')} > ${parameter('last')}
    order by ${rowNumber('emails')}`,
)

/** Lists the contacts whose address is suppressed. `contacts`: pairs of number and address. */
const listListed = statement<CurrentContact>(
  () => sql`select ${contact()} from ${eachOf(parameter('contacts'))} as row
    ${orderedJoin()} suppressions on suppressions.project_id = ${parameter('projectId')}
      and suppressions.email = ${item(1)}
    ${orderedJoin()} contacts on contacts.number = ${item(0)} and contacts.email = ${item(1)}`,
)

/** Lists the contacts of the rows with their present address and data. */
const listCurrent = statement<CurrentContact>(
  () => sql`select ${contact()} from ${eachOf(parameter('rows'))} as row
    ${orderedJoin()} contacts on contacts.number = ${item(1)} and contacts.id = ${item(2)}`,
)

export type CurrentContact = {
  number: number
  id: string
  address: string
  subscribed: number
  /** JSON text. */
  data: string | null
}

type InsertedRows = {
  inserted: number
  suppressed: { id: string; projectId: string; contactId: string; recipient: string }[]
  /** The contacts with their present address and data; only read if some contact got no row. */
  current: CurrentContact[] | undefined
}

export async function insertRecipientEmails(
  tx: Tx,
  shared: SharedColumns,
  drafts: readonly DraftRow[],
): Promise<InsertedRows> {
  if (drafts.length === 0) return { inserted: 0, suppressed: [], current: undefined }
  const rows = JSON.stringify(drafts.map(toList))
  const { isTracked, isForAll, ...columns } = shared
  const flags = { isTracked: isTracked ? 1 : 0, isForAll: isForAll ? 1 : 0 }
  const before = await tx.find(findLastRow)
  const inserted = await tx.execute(insertRows, { ...columns, ...flags, rows })
  const { projectId, campaignId } = shared
  const suppressed = await tx.list(listSuppressed, { campaignId, last: before?.last ?? 0 })
  return {
    inserted,
    suppressed: suppressed.map((row) => ({ ...row, projectId })),
    current: inserted < drafts.length ? await tx.list(listCurrent, { rows }) : undefined,
  }
}

/** Returns the given contacts whose address is suppressed. */
export function findListed(
  tx: Tx,
  projectId: string,
  contacts: readonly { number: number; address: string }[],
): Promise<CurrentContact[]> {
  const pairs = JSON.stringify(contacts.map(({ number, address }) => [number, address]))
  return tx.list(listListed, { projectId, contacts: pairs })
}

function toList(draft: DraftRow): unknown[] {
  const { id, number, contactId, recipient, recipientDomain, variables, dueAt } = draft
  return [id, number, contactId, recipient, recipientDomain, variables, dueAt]
}
