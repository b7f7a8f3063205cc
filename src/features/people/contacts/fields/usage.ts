/** Finds the references to a field of contacts. A field with references cannot be deleted. */
import type { FieldUsage } from '../../../../records/contact-field.ts'
import type { Base } from '../../../ground/base.ts'
import type { References } from '../../../ground/manifest/reference.ts'
import { findReferences, isUsed } from '../../../ground/references/registry.ts'
import {
  countContactsWithKey,
  countProjectContacts,
  type FieldName,
  parseFieldName,
} from './fields.ts'

export async function findFieldUsage(
  deps: Pick<Base, 'store' | 'duties'>,
  { projectId, field }: { projectId: string; field: string },
): Promise<FieldUsage> {
  const { store } = deps
  const name = parseFieldName(field)
  const [references, contactCount] = await Promise.all([
    findFieldReferences(deps, { projectId, name }),
    'key' in name
      ? countContactsWithKey(store.scan, { projectId, key: name.key })
      : countProjectContacts(store.scan, projectId),
  ])
  return {
    usedInSegments: references.segments,
    usedInCampaigns: references.campaigns,
    usedInWorkflows: references.workflows,
    contactCount,
    canDelete: 'key' in name && !isUsed(references),
  }
}

/** Finds the definitions that refer to the field. */
export async function findFieldReferences(
  deps: Pick<Base, 'store' | 'duties'>,
  { projectId, name }: { projectId: string; name: FieldName },
): Promise<References> {
  const referent =
    'key' in name
      ? ({ kind: 'data field', key: name.key } as const)
      : ({ kind: 'standard field', field: name.standard } as const)
  return findReferences(deps, deps.store.scan, { projectId, referent })
}
