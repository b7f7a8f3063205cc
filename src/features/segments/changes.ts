/**
 * Who must enter a tracked segment and who must leave it: whom its condition matches now, against its
 * rows. On the scan threads, a window of contacts at a time, by number; only differences come back.
 */
import { type SQL, sql } from '../../store/drizzle.ts'
import type { Core } from '../core.ts'

export type Change = { contactId: string; isEntry: boolean }

type Tracked = { projectId: string; segmentId: string; condition: SQL }
type Deps = Pick<Core, 'store'>

/** Contacts that a query looks at: some 10 ms, of a costly condition 50. */
const WINDOW = 10_000

/** Window by window, some of them empty. Who comes or changes meanwhile may or may not be seen. */
export async function* findChanges(deps: Deps, tracked: Tracked): AsyncGenerator<Change[]> {
  let from = 0
  for (;;) {
    const end = await findWindowEnd(deps, tracked.projectId, from)
    yield await findDifferences(deps, tracked, { from, to: end ?? Number.MAX_SAFE_INTEGER })
    if (end === undefined) return
    from = end
  }
}

/** The number of the window's last contact; undefined when the rest is less than a window. */
async function findWindowEnd({ store }: Deps, projectId: string, from: number) {
  const half = (subscribed: number) => sql`select number from contacts indexed by contacts_order
    where project_id = ${projectId} and subscribed = ${subscribed} and number > ${from}`
  const [row] = await store.scan.values<[number]>(
    sql`${half(1)} union all ${half(0)} order by 1 limit 1 offset ${WINDOW - 1}`,
  )
  return row?.[0]
}

async function findDifferences(
  { store }: Deps,
  { projectId, segmentId, condition }: Tracked,
  { from, to }: { from: number; to: number },
): Promise<Change[]> {
  const rows = await store.scan.values<[string, number]>(
    sql`select contacts.id, member.contact_id is null
      from contacts indexed by contacts_order
      left join segment_members as member on member.segment_id = ${segmentId}
        and member.contact_id = contacts.id and member.exited_at is null
      where contacts.project_id = ${projectId} and contacts.subscribed in (0, 1)
        and contacts.number > ${from} and contacts.number <= ${to}
        and (${condition}) is true <> (member.contact_id is not null)`,
  )
  return rows.map(([contactId, isEntry]) => ({ contactId, isEntry: isEntry === 1 }))
}
