/**
 * Counts the contacts of a scope. Without a condition or a search, the count comes from the
 * counters of the project.
 */
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'
import { type NumberRange, walkNumberRanges } from './number-ranges.ts'
import { countAmong, countByNumber, countScanned } from './queries.ts'
import { type ContactScope, needsAddressOnly } from './scope.ts'
import { type ContactSource, findSource } from './search.ts'

type Deps = Pick<Base, 'store'>

const findShare = statement<{ isMost: number }>(
  () => sql`select contact_count > 0.8 * (select max(number) from contacts) as "isMost"
    from projects where id = ${parameter('projectId')}`,
)

/**
 * Counts the contacts of a scope. With a condition, the count may include only some of the changes
 * that are made meanwhile.
 */
export async function countContacts(deps: Deps, scope: ContactScope): Promise<number> {
  return countFrom(deps, scope, await findSource(deps, scope, { isExact: true }))
}

/**
 * As `countContacts`, for a caller that has already found the source of the search (`findSource`).
 */
export async function countFrom(
  deps: Deps,
  scope: ContactScope,
  source: ContactSource,
): Promise<number> {
  const readsRows = scope.condition !== undefined || source.kind === 'scan'
  if (readsRows && !('candidates' in source) && !needsAddressOnly(scope)) {
    return countRanges(deps, scope)
  }
  const [[count] = []] = await deps.store.scan.values<[number]>(countQuery(source, scope))
  return count ?? 0
}

async function countRanges(deps: Deps, scope: ContactScope): Promise<number> {
  const share = await deps.store.read.find(findShare, { projectId: scope.projectId })
  const visit = (numberRange: NumberRange) =>
    countInRange(deps, scope, { numberRange, isMost: share?.isMost === 1 })
  let total = 0
  for await (const count of walkNumberRanges(deps, { scope, range: {} }, visit)) total += count
  return total
}

/**
 * Counts the contacts of the scope in a range of numbers. `isMost`: the project has most contacts
 * of the database.
 */
export async function countInRange(
  { store }: Deps,
  scope: ContactScope,
  { numberRange, isMost = false }: { numberRange: NumberRange; isMost?: boolean },
): Promise<number> {
  const query = countByNumber(scope, { isMost, numberRange })
  const [[count] = []] = await store.scan.values<[number]>(query)
  return count ?? 0
}

/** Returns the query that counts a source for which SQLite reads few or no rows of `contacts`. */
export function countQuery(source: ContactSource, scope: ContactScope): SQL {
  if ('candidates' in source) return countAmong(source.candidates, scope)
  if (source.kind === 'scan') return countScanned(scope)
  return sql`select ${counterOf(scope)} from projects where id = ${scope.projectId}`
}

function counterOf({ subscribed }: ContactScope): SQL {
  if (subscribed === undefined) return sql`contact_count`
  return subscribed ? sql`subscribed_count` : sql`contact_count - subscribed_count`
}
