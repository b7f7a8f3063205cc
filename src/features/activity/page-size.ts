/**
 * How much of a page is shown. Emails bring their bodies along, and a hundred large ones are more
 * than a response can hold: a page ends before that, and the next begins there.
 */
import { eq, sql } from '../../store/drizzle.ts'
import { contents, emails } from '../../store/schema.ts'
import { parameter, statement } from '../../store/store.ts'
import type { Core } from '../core.ts'

export const MAX_PAGE_BYTES = 32 * 1024 * 1024

/** Told from the head of a row: the texts themselves are not read. */
const listSizes = statement((db) =>
  db
    .select({
      id: emails.id,
      bytes: sql<number>`coalesce(octet_length(${contents.body}), 0)
        + coalesce(octet_length(${emails.variables}), 0)`,
    })
    .from(emails)
    .leftJoin(contents, eq(contents.id, emails.contentId))
    .where(sql`${emails.id} in (select value from json_each(${parameter('ids')}))`),
)

/** What the texts of these emails are made of, in bytes, by email; those that are gone are left out. */
export async function findSizes(
  { store }: Pick<Core, 'store'>,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await store.read.list(listSizes, { ids: JSON.stringify(ids) })
  return new Map(rows.map(({ id, bytes }) => [id, bytes]))
}

/** The first item, and those behind it as long as all together are not larger than a page may be. */
export function fitPage<Item>(items: readonly Item[], sizeOf: (item: Item) => number): Item[] {
  let total = 0
  const end = items.findIndex((item, index) => {
    total += sizeOf(item)
    return index > 0 && total > MAX_PAGE_BYTES
  })
  return items.slice(0, end === -1 ? items.length : end)
}
