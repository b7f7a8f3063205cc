/** The columns of an export for the data of contacts: one for each key that contacts of the project have. */
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { writeValue } from './cell.ts'
import type { PlacedCell } from './writer.ts'

/** The position of each key. */
export type DataColumns = ReadonlyMap<string, number>

const listKeys = statement<{ key: string }>(
  () => sql`select distinct key from contact_fields
    where project_id = ${parameter('projectId')} and contacts > 0 order by key`,
)

/** `from`: the number of columns before them. */
export async function findDataColumns(
  { store }: Pick<Base, 'store'>,
  projectId: string,
  from: number,
): Promise<DataColumns> {
  const fields = await store.scan.list(listKeys, { projectId })
  return new Map(fields.map(({ key }, index) => [key, from + index]))
}

export function namesOf(columns: DataColumns): string[] {
  return [...columns.keys()].map((key) => `data.${key}`)
}

/** The cells of a contact, in the order of the columns. A key without a column has no cell. */
export function placeData(
  data: Readonly<Record<string, unknown>> | null,
  columns: DataColumns,
): PlacedCell[] {
  const cells: PlacedCell[] = []
  for (const [key, value] of Object.entries(data ?? {})) {
    const at = columns.get(key)
    if (at !== undefined) cells.push({ at, cell: writeValue(value as never) })
  }
  return cells.sort((one, other) => one.at - other.at)
}
