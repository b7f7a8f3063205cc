/** Which B-trees a statement opens for writing, its triggers included, by their names. */
import type { Statement } from '../../src/store/database.ts'
import { sql } from '../../src/store/drizzle.ts'
import type { Store } from '../../src/store/store.ts'

export async function treesOpenedBy(
  { write }: Pick<Store, 'write'>,
  statement: Statement<unknown>,
): Promise<string[]> {
  const parameters = statement.compiled().text.replaceAll('?', 'null')
  return write(async (tx) => {
    const steps = await tx.all<{ opcode: string; p2: number }>(sql.raw(`explain ${parameters}`))
    const trees = await tx.all<{ name: string; rootpage: number }>(
      sql`select name, rootpage from sqlite_schema`,
    )
    const names = new Map(trees.map(({ name, rootpage }) => [rootpage, name]))
    return steps
      .filter(({ opcode }) => opcode === 'OpenWrite')
      .map(({ p2 }) => names.get(p2) ?? String(p2))
      .toSorted()
  })
}
