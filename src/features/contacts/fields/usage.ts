/** Finds what refers to a field of contacts. A field cannot be deleted while something refers to it. */
import { and, asc, eq, isNotNull } from '../../../store/drizzle.ts'
import { segments } from '../../../store/schema/segments.ts'
import type { Reader } from '../../../store/store.ts'
import type { Base } from '../../base.ts'
import { type Condition, listReferences } from '../../conditions/condition.ts'
import {
  countContactsWithKey,
  countProjectContacts,
  type FieldName,
  parseFieldName,
} from './list.ts'

export type FieldUse = { id: string; name: string }

export type FieldUsage = {
  usedInSegments: FieldUse[]
  usedInCampaigns: FieldUse[]
  usedInWorkflows: FieldUse[]
  /** Contacts that have the field. */
  contactCount: number
  /** False for a standard field. */
  canDelete: boolean
}

export async function findFieldUsage(
  { store }: Pick<Base, 'store'>,
  { projectId, field }: { projectId: string; field: string },
): Promise<FieldUsage> {
  const name = parseFieldName(field)
  const [usedInSegments, contactCount] = await Promise.all([
    listSegmentsWith(store.scan, { projectId, name }),
    'key' in name
      ? countContactsWithKey(store.scan, { projectId, key: name.key })
      : countProjectContacts(store.scan, projectId),
  ])
  return {
    usedInSegments,
    usedInCampaigns: [],
    usedInWorkflows: [],
    contactCount,
    canDelete: 'key' in name && usedInSegments.length === 0,
  }
}

/** Lists the segments whose condition refers to the field, oldest first. */
export async function listSegmentsWith(
  reader: Pick<Reader, 'select'>,
  { projectId, name }: { projectId: string; name: FieldName },
): Promise<FieldUse[]> {
  const rows = await reader
    .select({ id: segments.id, name: segments.name, condition: segments.condition })
    .from(segments)
    .where(and(eq(segments.projectId, projectId), isNotNull(segments.condition)))
    .orderBy(asc(segments.createdAt), asc(segments.id))
  return rows
    .filter(({ condition }) => refersTo(condition as Condition, name))
    .map(({ id, name }) => ({ id, name }))
}

function refersTo(condition: Condition, name: FieldName): boolean {
  if ('key' in name) return listReferences(condition).keys.includes(name.key)
  return listFilterFields(condition).includes(name.standard)
}

function listFilterFields({ groups }: Condition): string[] {
  return groups.flatMap(({ filters, conditions }) => [
    ...filters.map(({ field }) => field),
    ...(conditions === undefined ? [] : listFilterFields(conditions)),
  ])
}
