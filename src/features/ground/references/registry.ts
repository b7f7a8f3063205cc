/**
 * The registry of references: which definitions of a project use a template, a segment, an event, a
 * field of contacts or a sending domain. The usage routes read it, and so does each deletion that is
 * refused while something uses its object. A feature with a table that refers to one of these adds
 * a row to `REFERENCE_SOURCES`. `test/features/ground/references/registry.test.ts` fails while the schema has such a
 * column that is missing here.
 */
import { contains } from '../../../store/dialect.ts'
import { and, asc, eq, inArray, isNotNull, type SQL, sql } from '../../../store/drizzle.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import { templates } from '../../../store/schema/messages.ts'
import { segments } from '../../../store/schema/segments.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type Condition, listReferences } from '../conditions/condition.ts'
import {
  findByStep,
  findForSegment,
  findStartedBy,
  findSteps,
  namesDataKey,
  namesEvent,
  namesStandardField,
  sendsFrom,
  sendsTemplate,
} from './in-workflows.ts'

/** The used object. A field is a key of contact data, or a column of contacts. */
export type Referent =
  | { kind: 'template'; id: string }
  | { kind: 'segment'; id: string }
  | { kind: 'event'; name: string }
  | { kind: 'data field'; key: string }
  | { kind: 'standard field'; field: string }
  | { kind: 'sending domain'; domain: string }

export type Reference = { id: string; name: string }

/** The users of an object by their kind, oldest first. */
export type References = Record<Label, Reference[]>

/** `limit`: how many users of each kind to find at most; all if absent. */
type ReferenceQuery = { projectId: string; referent: Referent; limit?: number | undefined }

export type ReferenceSource = {
  /** Table and column, as in the database. */
  column: string
  label: Label
  refersTo: readonly Referent['kind'][]
  /** Finds the rows of the project that refer to the object, oldest first. */
  find(queries: Queries, query: ReferenceQuery): Promise<Reference[]>
}

/** The kinds of users. `workflowSteps` are the steps of the workflows. */
type Label = (typeof LABELS)[number]
/** A transaction, or a connection for reading. */
type Queries = Pick<Tx, 'select'>

const LABELS = ['segments', 'templates', 'campaigns', 'workflows', 'workflowSteps'] as const

export const REFERENCE_SOURCES: readonly ReferenceSource[] = [
  {
    column: 'segments.condition',
    label: 'segments',
    refersTo: ['segment', 'event', 'data field', 'standard field'],
    find: findSegments,
  },
  {
    column: 'templates.from_domain',
    label: 'templates',
    refersTo: ['sending domain'],
    find: findTemplates,
  },
  {
    column: 'campaigns.audience_condition',
    label: 'campaigns',
    refersTo: ['segment', 'event', 'data field', 'standard field'],
    find: findCampaignsByCondition,
  },
  {
    column: 'campaigns.segment_id',
    label: 'campaigns',
    refersTo: ['segment'],
    find: (queries, query) =>
      query.referent.kind === 'segment'
        ? findCampaigns(queries, query, eq(campaigns.segmentId, query.referent.id))
        : Promise.resolve([]),
  },
  {
    column: 'campaigns.from_domain',
    label: 'campaigns',
    refersTo: ['sending domain'],
    find: (queries, query) =>
      query.referent.kind === 'sending domain'
        ? findCampaigns(queries, query, eq(campaigns.fromDomain, query.referent.domain))
        : Promise.resolve([]),
  },
  {
    column: 'workflows.trigger_event',
    label: 'workflows',
    refersTo: ['event'],
    find: async (queries, { referent, ...scope }) =>
      referent.kind === 'event' ? findStartedBy(queries, scope, referent.name) : [],
  },
  {
    column: 'workflows.segment_id',
    label: 'workflows',
    refersTo: ['segment'],
    find: async (queries, { referent, ...scope }) =>
      referent.kind === 'segment' ? findForSegment(queries, scope, referent.id) : [],
  },
  {
    column: 'workflow_steps.config',
    label: 'workflows',
    refersTo: ['event', 'data field', 'standard field'],
    find: (queries, { referent, ...scope }) => findByStep(queries, scope, usedBySteps(referent)),
  },
  {
    column: 'workflow_steps.template_id',
    label: 'workflows',
    refersTo: ['template'],
    find: async (queries, { referent, ...scope }) =>
      referent.kind === 'template' ? findByStep(queries, scope, sendsTemplate(referent.id)) : [],
  },
  {
    column: 'workflow_steps.template_id',
    label: 'workflowSteps',
    refersTo: ['template', 'sending domain'],
    find: findSendingSteps,
  },
]

/** Finds what uses an object. */
export async function findReferences(
  queries: Queries,
  query: ReferenceQuery,
  sources: readonly ReferenceSource[] = REFERENCE_SOURCES,
): Promise<References> {
  const found: References = {
    segments: [],
    templates: [],
    campaigns: [],
    workflows: [],
    workflowSteps: [],
  }
  for (const { label, refersTo, find } of sources) {
    if (!refersTo.includes(query.referent.kind)) continue
    found[label] = mergeById([...found[label], ...(await find(queries, query))])
  }
  return found
}

export function isUsed(references: References): boolean {
  return LABELS.some((label) => references[label].length > 0)
}

/** The kind of the first users of an event or of a field. */
export function kindOfUser({ segments, campaigns }: References): string {
  if (segments.length > 0) return 'segment'
  return campaigns.length > 0 ? 'campaign' : 'workflow'
}

async function findSegments(
  queries: Queries,
  { projectId, referent, limit }: ReferenceQuery,
): Promise<Reference[]> {
  const rows = await queries
    .select({ id: segments.id, name: segments.name, condition: segments.condition })
    .from(segments)
    .where(
      and(
        eq(segments.projectId, projectId),
        isNotNull(segments.condition),
        referent.kind === 'segment'
          ? contains(sql`lower(${segments.condition})`, referent.id)
          : undefined,
      ),
    )
    .orderBy(asc(segments.createdAt), asc(segments.id))
  return rows
    .filter(({ condition }) => doesRefer(condition as Condition, referent))
    .slice(0, limit)
    .map(({ id, name }) => ({ id, name }))
}

function doesRefer(condition: Condition, referent: Referent): boolean {
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

/** What the config of a step says when it uses the object. */
function usedBySteps(referent: Referent): SQL | undefined {
  switch (referent.kind) {
    case 'event':
      return namesEvent(referent.name)
    case 'data field':
      return namesDataKey(referent.key)
    case 'standard field':
      return namesStandardField(referent.field)
    default:
      throw new TypeError(`The config of a step does not name a ${referent.kind}.`)
  }
}

async function findSendingSteps(
  queries: Queries,
  { referent, ...scope }: ReferenceQuery,
): Promise<Reference[]> {
  if (referent.kind === 'template') return findSteps(queries, scope, sendsTemplate(referent.id))
  if (referent.kind !== 'sending domain') return []
  return findSteps(queries, scope, sendsFrom(queries, scope, referent.domain))
}

async function findTemplates(
  queries: Queries,
  { projectId, referent, limit }: ReferenceQuery,
): Promise<Reference[]> {
  if (referent.kind !== 'sending domain') return []
  return queries
    .select({ id: templates.id, name: templates.name })
    .from(templates)
    .where(and(eq(templates.projectId, projectId), eq(templates.fromDomain, referent.domain)))
    .orderBy(asc(templates.createdAt), asc(templates.id))
    .limit(limit ?? Number.MAX_SAFE_INTEGER)
}

/** A campaign that was sent or cancelled uses nothing any more. */
const isUnfinished = inArray(campaigns.status, ['DRAFT', 'SCHEDULED', 'SENDING'])

async function findCampaigns(
  queries: Queries,
  { projectId, limit }: ReferenceQuery,
  condition: SQL,
): Promise<Reference[]> {
  return queries
    .select({ id: campaigns.id, name: campaigns.name })
    .from(campaigns)
    .where(and(eq(campaigns.projectId, projectId), isUnfinished, condition))
    .orderBy(asc(campaigns.createdAt), asc(campaigns.id))
    .limit(limit ?? Number.MAX_SAFE_INTEGER)
}

async function findCampaignsByCondition(
  queries: Queries,
  { projectId, referent, limit }: ReferenceQuery,
): Promise<Reference[]> {
  const rows = await queries
    .select({ id: campaigns.id, name: campaigns.name, condition: campaigns.audienceCondition })
    .from(campaigns)
    .where(
      and(
        eq(campaigns.projectId, projectId),
        isUnfinished,
        isNotNull(campaigns.audienceCondition),
        referent.kind === 'segment'
          ? contains(sql`lower(${campaigns.audienceCondition})`, referent.id)
          : undefined,
      ),
    )
    .orderBy(asc(campaigns.createdAt), asc(campaigns.id))
  return rows
    .filter(({ condition }) => doesRefer(condition as Condition, referent))
    .slice(0, limit)
    .map(({ id, name }) => ({ id, name }))
}

/** A workflow that uses an object twice is one user. */
function mergeById(references: readonly Reference[]): Reference[] {
  return [...new Map(references.map((each) => [each.id, each])).values()]
}
