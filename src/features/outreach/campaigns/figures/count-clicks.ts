/** Counts clicks by link. Clicks of machines have no event, so they do not count. */
import { indexedBy, jsonValue, listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { EventRow } from '../../../../store/schema/events.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'

const linkOf = (table: string) => jsonValue(sql.raw(`${table}.data`), 'link')

/** After so many clicks of an email, its further ones count for no new link. */
const MAX_CLICKS = 20
/** A click must not cost more for each click before it: no more of the contact's clicks are read. */
const MAX_READ = 200

/** The contact's clicks from the email's first one on: other mail may have been clicked meanwhile. */
const earlierClicks = sql`(select earlier.email_id, ${linkOf('earlier')} as link
    from events as earlier ${indexedBy('events_contact')}
    where earlier.contact_id = click.contact_id and earlier.name = 'email.click'
      and earlier.created_at >= emails.clicked_at and earlier.seq < click.seq
    order by earlier.created_at limit ${sql.raw(String(MAX_READ))})`

/** The event says which of the email's clicks it is. */
const ordinal = jsonValue(sql.raw('click.data'), 'clicks')

/** A click is an email's first one on the link if no earlier event of the contact says the same. */
const addClicks = statement(
  () => sql`insert into campaign_links (campaign_id, url, clicks, clickers)
    select emails.campaign_id, ${linkOf('click')}, count(*), sum(case
        when ${ordinal} = 1 then 1
        when ${ordinal} > ${sql.raw(String(MAX_CLICKS))} then 0
        else (select count(*) < ${sql.raw(String(MAX_READ))}
          and coalesce(sum(earlier.email_id = click.email_id and earlier.link = ${linkOf('click')}), 0) = 0
        from ${earlierClicks} as earlier) end)
    from events as click join emails on emails.id = click.email_id
    where click.seq in ${listOf(parameter('seqs'))} and emails.campaign_id is not null
      and ${linkOf('click')} is not null
    group by 1, 2
    on conflict (campaign_id, url) do update
      set clicks = clicks + excluded.clicks, clickers = clickers + excluded.clickers`,
)

export async function countClicks(
  tx: Tx,
  events: readonly Pick<EventRow, 'seq' | 'name'>[],
): Promise<void> {
  const clicks = events.filter(({ name }) => name === 'email.click')
  if (clicks.length === 0) return
  await tx.execute(addClicks, { seqs: JSON.stringify(clicks.map(({ seq }) => seq)) })
}
