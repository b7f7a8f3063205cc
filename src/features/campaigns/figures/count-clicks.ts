/** Counts clicks by link. Clicks of machines have no event, so they do not count. */
import { indexedBy, jsonValue, listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import type { EventRow } from '../../../store/schema/events.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

const linkOf = (table: string) => jsonValue(sql.raw(`${table}.data`), 'link')

/** A click is an email's first one on the link if no earlier event of the contact says the same. */
const addClicks = statement(
  () => sql`insert into campaign_links (campaign_id, url, clicks, clickers)
    select emails.campaign_id, ${linkOf('click')}, count(*), sum(not exists (
        select 1 from events as earlier ${indexedBy('events_contact')}
        where earlier.contact_id = click.contact_id and earlier.name = 'email.click'
          and earlier.seq < click.seq and earlier.email_id = click.email_id
          and ${linkOf('earlier')} = ${linkOf('click')}))
    from events as click join emails on emails.id = click.email_id
    where click.seq in ${listOf(parameter('seqs'))} and emails.campaign_id is not null
      and ${linkOf('click')} is not null
    group by 1, 2
    on conflict (campaign_id, url) do update
      set clicks = clicks + excluded.clicks, clickers = clickers + excluded.clickers`,
)

export async function countClicks(tx: Tx, events: readonly EventRow[]): Promise<void> {
  const clicks = events.filter(({ name }) => name === 'email.click')
  if (clicks.length === 0) return
  await tx.execute(addClicks, { seqs: JSON.stringify(clicks.map(({ seq }) => seq)) })
}
