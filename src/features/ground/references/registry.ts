/**
 * The registry of references: which definitions of a project use a template, a segment, an event, a
 * field of contacts or a sending domain. The usage routes read it, and so does each deletion that is
 * refused while something uses its object. A table that refers to one of these has a source in the
 * `area.ts` of its area; `test/features/ground/references/registry.test.ts` fails while the schema has such a
 * column without a source.
 */
import type { Queries } from '../../../store/write/transaction.ts'
import { type Condition, listReferences } from '../conditions/condition.ts'
import {
  LABELS,
  type Reference,
  type ReferenceQuery,
  type ReferenceSource,
  type References,
  type Referent,
} from '../manifest/reference.ts'

/** What the areas hand in. */
type ReferenceDeps = { duties: { references: readonly ReferenceSource[] } }

/** Finds what uses an object. */
export async function findReferences(
  { duties }: ReferenceDeps,
  queries: Queries,
  query: ReferenceQuery,
): Promise<References> {
  const found: References = {
    segments: [],
    templates: [],
    campaigns: [],
    workflows: [],
    workflowSteps: [],
  }
  for (const { label, refersTo, find } of duties.references) {
    if (!refersTo.includes(query.referent.kind)) continue
    found[label] = mergeById([...found[label], ...(await find(queries, query))])
  }
  return found
}

export function isUsed(references: References): boolean {
  return LABELS.some((label) => references[label].length > 0)
}

/**
 * Returns the kind of the first users of an event or a field: `segment`, `campaign` or `workflow`.
 */
export function kindOfUser({ segments, campaigns }: References): string {
  if (segments.length > 0) return 'segment'
  return campaigns.length > 0 ? 'campaign' : 'workflow'
}

/** Whether a condition of a segment or an audience refers to the object. */
export function doesRefer(condition: Condition, referent: Referent): boolean {
  const { keys, columns, events, segments } = listReferences(condition)
  switch (referent.kind) {
    case 'segment':
      return segments.includes(referent.id)
    case 'event':
      return events.includes(referent.name)
    case 'data field':
      return keys.includes(referent.key)
    case 'standard field':
      return columns.includes(referent.field)
    default:
      return false
  }
}

/** A workflow that uses an object twice is one user. */
function mergeById(references: readonly Reference[]): Reference[] {
  return [...new Map(references.map((each) => [each.id, each])).values()]
}
