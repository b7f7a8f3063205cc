/** Finds the sizes of the emails on a page, which include their bodies. */
import { listOf, octets } from '../../../store/dialect.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { contents, emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'

/** SQLite takes the sizes from the heads of the rows, without reading the texts. */
const listSizes = statement((db) =>
  db
    .select({
      id: emails.id,
      bytes: sql<number>`coalesce(${octets(contents.body)}, 0)
        + coalesce(${octets(contents.text)}, 0)
        + coalesce(${octets(emails.variables)}, 0)`,
    })
    .from(emails)
    .leftJoin(contents, eq(contents.id, emails.contentId))
    .where(sql`${emails.id} in ${listOf(parameter('ids'))}`),
)

/** Returns the bytes of each email's content and variables by id; deleted emails are omitted. */
export async function findEmailBytes(
  { store }: Pick<Base, 'store'>,
  ids: readonly string[],
): Promise<Map<string, number>> {
  const rows = await store.read.list(listSizes, { ids: JSON.stringify(ids) })
  return new Map(rows.map(({ id, bytes }) => [id, bytes]))
}
