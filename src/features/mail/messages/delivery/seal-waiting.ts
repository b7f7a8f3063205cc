/**
 * Seals the variables that `0022_platform_mail.sql` has left readable, because SQL cannot seal.
 * Runs whenever the database is opened, before anything reads it; after the first time, no such
 * variables are left.
 */
import type { RowOf } from '../../../../store/database.ts'
import { asc, sql } from '../../../../store/drizzle.ts'
import { overwriting } from '../../../../store/overwrite.sqlite.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { sweepRows } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'

const PAGE = 100

/**
 * A readable text is a JSON object, a sealed one is base64. The first condition is that of the
 * index.
 */
const listReadable = statement((db) =>
  db
    .select({ id: emails.id, text: sql<string>`${emails.sealedVariables}` })
    .from(emails)
    .where(sql`sealed_variables is not null and substr(sealed_variables, 1, 1) = '{'`)
    .orderBy(asc(emails.id))
    .limit(PAGE),
)

const sealOne = statement((db) =>
  db
    .update(emails)
    .set({ sealedVariables: parameter('sealed') })
    .where(sql`${emails.id} = ${parameter('id')} and sealed_variables = ${parameter('text')}`),
)

/** Returns the number of sealed emails. The text is overwritten in the file. */
export async function sealWaiting(deps: Pick<Base, 'store' | 'keyring'>): Promise<number> {
  return sweepRows<RowOf<typeof listReadable>, number>(
    deps,
    { pace: { rows: PAGE, rest: 'none' }, heavyFor: undefined },
    {
      from: 0,
      find: () => deps.store.read.list(listReadable, {}),
      change: async (tx, rows, sealed) => {
        await overwriting(tx, async () => {
          for (const { id, text } of rows) {
            await tx.execute(sealOne, { id, text, sealed: deps.keyring.seal(text) })
          }
        })
        return sealed + rows.length
      },
    },
  )
}
