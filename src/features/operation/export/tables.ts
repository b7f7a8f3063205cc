/**
 * The content of an export of a project: a file for each of the tables that an area exports. A record has its
 * row's columns, or the API's fields if the API exposes it.
 */
import { getTableName } from '../../../store/drizzle.ts'
import type { ExportedTable, TableDuties } from '../../ground/manifest/table.ts'

/**
 * Fields that no export contains: secrets, digests of secrets, and numbers that mean nothing
 * outside of the database.
 */
export const HIDDEN_FIELDS: readonly string[] = [
  'digest',
  'ed25519PrivateKey',
  'passwordHash',
  'previousSecret',
  'raw',
  'rsaPrivateKey',
  'secret',
  'secretDigest',
  'sealedVariables',
  'secretHint',
  'shareKey',
  'shelf',
  'totpSecret',
  'totpStep',
]

/** The order of the files, for people who read an export. All other files come last. */
export const READING_ORDER: readonly string[] = [
  ...['project', 'memberships', 'users', 'invitations', 'domains'],
  ...['contacts', 'segments', 'segment_members', 'templates', 'campaigns', 'campaign_links'],
  ...['workflows', 'workflow_steps', 'workflow_transitions', 'workflow_executions'],
  ...['workflow_step_executions', 'workflow_figures', 'webhook_endpoints', 'webhook_deliveries'],
  ...['contents', 'emails', 'attempts', 'events', 'received'],
  ...['suppressions', 'held_suppressions', 'strikes', 'uploads'],
  ...['reputation_hours', 'reputation_totals', 'usage_months'],
  ...['analytics_subjects', 'mail_counts', 'link_counts', 'event_counts', 'api_requests'],
]

/** Returns the tables that have a file, in the order of the files. */
export function listExported(tables: readonly TableDuties[]): ExportedTable[] {
  const exported = tables.flatMap((table) =>
    typeof table.export === 'object' ? [table.export] : [],
  )
  return exported.toSorted((one, other) => placeOf(one) - placeOf(other))
}

function placeOf({ name }: ExportedTable): number {
  const place = READING_ORDER.indexOf(name)
  return place < 0 ? READING_ORDER.length : place
}

/** @throws TypeError for a file that no table has */
export function findExported(tables: readonly TableDuties[], name: string): ExportedTable {
  const found = listExported(tables).find((exported) => exported.name === name)
  if (found === undefined) throw new TypeError(`${name} is not exported`)
  return found
}

/** Returns the tables with rows of projects that are not exported, each with the reason. */
export function listLeftOut(tables: readonly TableDuties[]): Record<string, string> {
  const entries = tables.flatMap(({ table, export: reason }) =>
    typeof reason === 'string' ? [[getTableName(table), reason] as const] : [],
  )
  return Object.fromEntries(entries.sort(([one], [other]) => (one < other ? -1 : 1)))
}
