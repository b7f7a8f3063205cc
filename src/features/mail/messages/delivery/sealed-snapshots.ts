/**
 * The sealed snapshots of mail of the server to its users. The links of such mail choose passwords, so
 * its snapshot is sealed from acceptance until the email is final, and only a delivery opens it:
 * previews, lists, exports and backups read `variables`, which such mail does not have.
 */
import { findLinkTokens } from '../../../../formats/link-tokens.ts'
import type { RowOf } from '../../../../store/database.ts'
import { asc, sql } from '../../../../store/drizzle.ts'
import { overwriting } from '../../../../store/overwrite.sqlite.ts'
import type { Snapshot } from '../../../../store/schema/json-values.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { sweepRows } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'

const PAGE = 100

/**
 * Lists emails whose variables are still readable: a readable text is a JSON object, a sealed one
 * is base64. The first condition is that of the index.
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

/** Seals the snapshot of mail of the server to its users. */
export function sealSnapshot({ keyring }: Pick<Base, 'keyring'>, snapshot: Snapshot): string {
  return keyring.seal(JSON.stringify(snapshot))
}

/**
 * Returns the snapshot, and the secrets in it: the tokens of its links, which no reply may show.
 * @throws TypeError when no known secret sealed it
 */
export function unsealSnapshot(
  { keyring }: Pick<Base, 'keyring'>,
  sealedVariables: string,
): { snapshot: Snapshot; secrets: readonly string[] } {
  const text = keyring.unseal(sealedVariables)
  return { snapshot: JSON.parse(text) as Snapshot, secrets: findLinkTokens(text) }
}

/**
 * Seals the variables that `0022_platform_mail.sql` has left readable, because SQL cannot seal. Runs
 * whenever the database is opened, before anything reads it; after the first time, no such variables
 * are left. Returns the number of sealed emails. The text is overwritten in the file.
 */
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
