/**
 * The sealed columns of all tables: checks whether `secret` opens them, and seals them again after
 * a change of `secret`.
 */
import { ConfigError } from '../../../config/problems.ts'
import {
  and,
  asc,
  eq,
  gt,
  isNotNull,
  type SQLiteColumn,
  type SQLiteTable,
} from '../../../store/drizzle.ts'
import type { Base } from '../../ground/base.ts'
import type { Sealed as SealedColumns, TableDuties } from '../../ground/manifest/table.ts'

type Deps = Pick<Base, 'store' | 'keyring' | 'duties'>
type Sealed = SealedColumns & { table: SQLiteTable }
type SealedRow = { key: string; texts: Record<string, string | null> }

const PAGE = 500

/** Lists the tables with sealed columns. */
export function listSealed(tables: readonly TableDuties[]): Sealed[] {
  return tables.flatMap(({ table, sealed }) => (sealed === undefined ? [] : [{ table, ...sealed }]))
}

/**
 * Seals all sealed columns with the present secret, because texts of the previous secret cannot be
 * opened once `secret_previous` is removed. Returns the number of changed rows.
 * @throws TypeError when neither secret opens a text
 */
export async function resealAll(deps: Deps): Promise<number> {
  let resealed = 0
  for (const sealed of listSealed(deps.duties.tables)) resealed += await resealTable(deps, sealed)
  return resealed
}

async function resealTable(deps: Deps, sealed: Sealed): Promise<number> {
  let resealed = 0
  let page = await listAfter(deps, sealed, '')
  while (page.length > 0) {
    for (const row of page) if (await resealFully(deps, sealed, row)) resealed += 1
    page = await listAfter(deps, sealed, page.at(-1)?.key ?? '')
  }
  return resealed
}

function listAfter(
  { store }: Deps,
  { table, key, columns, where }: Sealed,
  after: string,
): Promise<SealedRow[]> {
  return store.scan
    .select({ key, texts: columns })
    .from(table)
    .where(and(where, gt(key, after)))
    .orderBy(asc(key))
    .limit(PAGE)
    .all() as Promise<SealedRow[]>
}

/**
 * Seals a row again. If the row was changed meanwhile, reads and seals the changed row: a rotation
 * moves a secret, still sealed, to the column of the previous secret. Returns false if no column
 * needed it.
 */
async function resealFully(deps: Deps, sealed: Sealed, listed: SealedRow): Promise<boolean> {
  let row: SealedRow | undefined = listed
  while (row !== undefined) {
    const outcome = await resealRow(deps, sealed, row)
    if (outcome !== 'changed-meanwhile') return outcome === 'resealed'
    row = await findRow(deps, sealed, row.key)
  }
  return false
}

function findRow(
  { store }: Deps,
  { table, key, columns }: Sealed,
  value: string,
): Promise<SealedRow | undefined> {
  return store.read
    .select({ key, texts: columns })
    .from(table)
    .where(eq(key, value))
    .get() as Promise<SealedRow | undefined>
}

/**
 * Seals all columns of the row that need it in one statement, or none of them if one was changed
 * meanwhile.
 */
async function resealRow(
  { store, keyring }: Deps,
  { table, key, columns }: Sealed,
  row: SealedRow,
): Promise<'current' | 'resealed' | 'changed-meanwhile'> {
  const changes = Object.entries(row.texts).flatMap(([name, text]) => {
    const resealed = text === null ? null : keyring.reseal(text)
    return resealed === text ? [] : [{ name, text, resealed }]
  })
  if (changes.length === 0) return 'current'
  const areUnchanged = changes.map(({ name, text }) => eq(sealedColumnOf(columns, name), text))
  const values = Object.fromEntries(changes.map(({ name, resealed }) => [name, resealed]))
  const written = await store.write((tx) =>
    tx
      .update(table)
      .set(values)
      .where(and(eq(key, row.key), ...areUnchanged))
      .returning({ key }),
  )
  return written.length > 0 ? 'resealed' : 'changed-meanwhile'
}

function sealedColumnOf(columns: Sealed['columns'], name: string): SQLiteColumn {
  const column = columns[name]
  if (column === undefined) throw new TypeError(`no sealed column is called ${name}`)
  return column
}

/**
 * Checks that `secret` opens the sealed keys and secrets in the database.
 * @throws ConfigError when a stored key was sealed with another secret
 */
export async function checkSecret({
  store,
  keyring,
  duties,
}: Pick<Base, 'store' | 'keyring' | 'duties'>): Promise<void> {
  // Tables with a `where` are not searched: few of their rows have a sealed text, so finding one
  // would read all rows.
  const searched = listSealed(duties.tables).filter(({ where }) => where === undefined)
  const rows = await Promise.all(
    searched.flatMap(({ table, columns }) =>
      Object.values(columns)
        .slice(0, 1)
        .map((key) => store.read.select({ key }).from(table).where(isNotNull(key)).limit(1).get()),
    ),
  )
  try {
    for (const row of rows) if (typeof row?.key === 'string') keyring.unseal(row.key)
  } catch (error) {
    const problem = {
      key: 'secret',
      found: 'a secret that does not open the keys in the database',
      expected:
        'the secret that the database was created with (restore it, or set secret_previous)',
      where: null,
    }
    throw new ConfigError([problem], { cause: error })
  }
}
