/**
 * Every column of the schema that refers to a template, a segment, an event, a field, a sending
 * domain, a campaign or a workflow has a row in the registry of references, or a reason why not.
 */
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
import { DUTIES } from '../../../../src/core/areas.ts'
import type {
  Reference,
  ReferenceSource,
  Referent,
} from '../../../../src/features/ground/manifest/reference.ts'
import { findReferences, isUsed } from '../../../../src/features/ground/references/registry.ts'
import { ACTIVITY_SOURCES } from '../../../../src/features/insight/activity/upcoming.ts'
import { createSegment } from '../../../../src/features/people/segments/edit-segment.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { addProject, openTestCore } from '../../../core.ts'

/** Names of columns that refer to a definition. */
const REFERRING =
  /(?:^|_)(?:template|segment|campaign|workflow)(?:_\w+)?_ids?$|(?:^|_)domain$|(?:^|_)(?:event|field)_name$|^(?:event|field|trigger|trigger_config|filter|audience)$|(?:^|_)conditions?$/

/** Columns with such a name that use nothing, with the reason. */
const NO_REFERENCES: Record<string, string> = {
  'campaign_progress.campaign_id': 'the progress of the campaign, which is deleted with it',
  'campaign_links.campaign_id': 'the clicks of the campaign, which is deleted with it',
  'campaigns.template_id':
    'history: a campaign keeps its own texts; templates/templates.ts counts them',
  'deleted_events.campaign_id': 'history: an event that waits to be counted',
  'deleted_events.recipient_domain': 'a domain that receives',
  'deleted_events.template_id': 'history: an event that waits to be counted',
  'deleted_events.workflow_id': 'history: an event that waits to be counted',
  'domains.domain': 'the domain itself',
  'emails.campaign_id': 'history: an email keeps its own content',
  'emails.recipient_domain': 'a domain that receives',
  'emails.template_id':
    'history: an email keeps its own content; templates/templates.ts counts them',
  'emails.workflow_execution_id': 'history: an email keeps its own content',
  'emails.workflow_step_execution_id': 'history: an email keeps its own content',
  'held_suppressions.domain': 'a domain that receives',
  'holds.domain': 'a domain that receives',
  'known_domains.domain': 'a domain that receives',
  'webhook_deliveries.event_name': 'history: an event on its way',
  'segment_members.segment_id': 'the members of the segment, which are deleted with it',
  'workflow_executions.workflow_id': 'the executions of the workflow, which are deleted with it',
  'workflow_figures.workflow_id': 'the figures of the workflow, which are deleted with it',
  'workflow_requests.workflow_id': 'the requests of the workflow, which are deleted with it',
  'workflow_steps.workflow_id': 'the steps of the workflow, which are deleted with it',
  'workflow_transitions.condition': 'the branch of a step',
  'workflow_transitions.workflow_id': 'the transitions of the workflow, which are deleted with it',
  'workflow_waits.event_name': 'the event of a step, whose config is registered',
  'workflow_waits.workflow_id': 'the waits of the workflow, which are deleted with it',
  'workflows.trigger_config': 'trigger_event and segment_id are made from it',
}

/** Tables with times of counts. */
const COUNTS = [
  'jobs',
  'new_project_hours',
  'reputation_hours',
  'usage_months',
  'owner_months',
  'usage_notices',
  'mail_counts',
  'link_counts',
  'event_counts',
  'backups',
]

/** Names of columns with a time that the feed shows: of a future activity, or of a start. */
const TIMED = /^(?:scheduled|starts?|started|resumes?|wakes?)_(?:at|for)$/

describe('every column of the schema', () => {
  it('that refers to a definition is in the registry, or has a reason', async (t) => {
    const columns = await listColumns(t)
    const named = columns.filter((column) => REFERRING.test(nameOf(column)))
    const referring = new Set([...named, ...(await listForeignKeys(t))])
    const registered = DUTIES.references.map(({ column }) => column)
    const unregistered = [...referring].filter(
      (column) => !registered.includes(column) && !(column in NO_REFERENCES),
    )
    assert.deepEqual(
      unregistered,
      [],
      `add a source to the references of an area (src/features/*/area.ts) for each column, or the reason \
why it uses nothing to NO_REFERENCES in this file: ${unregistered.join(', ')}`,
    )
  })

  it('that the registry or an exemption names exists, and stands in one of them', async (t) => {
    const columns = await listColumns(t)
    const registered = DUTIES.references.map(({ column }) => column)
    const named = [...registered, ...Object.keys(NO_REFERENCES)]
    assert.deepEqual(
      named.filter((column) => !columns.includes(column)),
      [],
      'the schema has no such columns: remove their rows',
    )
    assert.deepEqual(
      registered.filter((column) => column in NO_REFERENCES),
      [],
      'these columns are registered, so they are no exemptions',
    )
  })

  it('that has a time of an activity belongs to a source of the feed', async (t) => {
    const tables = [...ACTIVITY_SOURCES.map(({ table }) => table), ...COUNTS]
    const timed = (await listColumns(t)).filter((column) => TIMED.test(nameOf(column)))
    assert.deepEqual(
      timed.filter((column) => !tables.includes(column.split('.')[0] ?? '')),
      [],
      'add the tables to ACTIVITY_SOURCES in src/features/insight/activity/upcoming.ts',
    )
  })
})

describe('the name of a column', () => {
  const referring = [
    'template_id',
    'segment_id',
    'campaign_id',
    'workflow_id',
    'workflow_step_id',
    'excluded_segment_ids',
    'from_domain',
    'condition',
    'exit_conditions',
    'event_name',
    'trigger_config',
  ]
  const others = ['id', 'project_id', 'contact_id', 'contact_fields', 'name', 'template_faults']

  it('shows whether the column refers to a definition', () => {
    assert.deepEqual(
      [...referring, ...others].filter((name) => REFERRING.test(name)),
      referring,
    )
  })
})

test('references are found by kind, oldest first, each once', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const other = await addProject(core, 'Other')
  const name = { field: 'event.signup', operator: 'triggered' }
  const data = { field: 'data.plan', operator: 'equals', value: 'pro' }
  const own = { field: 'email', operator: 'contains', value: '@' }
  const of = (...filters: object[]) => ({ logic: 'AND', groups: [{ filters }] })
  const add = async (title: string, condition: object, project = projectId) => {
    core.clock.now += 1
    const { id } = await createSegment(core, { projectId: project, name: title, condition })
    return { id, name: title }
  }
  const first = await add('Z', of(name, data))
  const second = await add('A', of(name, own))
  const third = await add('M', of({ field: `segment.${first.id}`, operator: 'memberOfSegment' }))
  await add('Other', of(name, data, own), other.id)
  const segmentsWith = async (referent: Referent) => {
    const references = await findReferences(core, core.store.read, { projectId, referent })
    const { segments, ...rest } = references
    assert.ok(Object.values(rest).every((list) => list.length === 0))
    assert.equal(isUsed(references), segments.length > 0)
    return segments
  }
  assert.deepEqual(await segmentsWith({ kind: 'event', name: 'signup' }), [first, second])
  assert.deepEqual(await segmentsWith({ kind: 'data field', key: 'plan' }), [first])
  assert.deepEqual(await segmentsWith({ kind: 'standard field', field: 'email' }), [second])
  assert.deepEqual(await segmentsWith({ kind: 'segment', id: first.id }), [third])
  assert.deepEqual(await segmentsWith({ kind: 'data field', key: 'email' }), [])
  assert.deepEqual(await segmentsWith({ kind: 'template', id: first.id }), [])
})

test('a new source is included for the kinds that it names', async (t) => {
  const core = await openTestCore(t)
  const found = (...ids: string[]): Reference[] => ids.map((id) => ({ id, name: id.toUpperCase() }))
  const source = (column: string, references: Reference[]): ReferenceSource => ({
    column,
    label: 'workflows',
    refersTo: ['template'],
    find: async () => references,
  })
  const sources = [
    source('workflows.template_id', found('a', 'b', 'a')),
    source('workflows.other_template_id', found('b', 'c')),
  ]
  const find = (referent: Referent) =>
    findReferences({ duties: { references: sources } }, core.store.read, {
      projectId: 'p',
      referent,
    })
  const { workflows } = await find({ kind: 'template', id: 't' })
  assert.deepEqual(workflows, found('a', 'b', 'c'))
  assert.equal(isUsed(await find({ kind: 'event', name: 'signup' })), false)
})

function nameOf(column: string): string {
  return column.slice(column.indexOf('.') + 1)
}

async function listColumns(t: Parameters<typeof openTestCore>[0]): Promise<string[]> {
  const { store } = await openTestCore(t)
  const rows = await store.read.all<{ column: string }>(
    sql`select tables.name || '.' || columns.name as column
        from pragma_table_list as tables, pragma_table_info(tables.name) as columns
        where tables.schema = 'main' and tables.type = 'table' and tables.name not like 'sqlite_%'
        order by 1`,
  )
  return rows.map(({ column }) => column)
}

/** The columns with a foreign key to templates, segments or sending domains. */
async function listForeignKeys(t: Parameters<typeof openTestCore>[0]): Promise<string[]> {
  const { store } = await openTestCore(t)
  const rows = await store.read.all<{ column: string }>(
    sql`select tables.name || '.' || keys."from" as column
        from pragma_table_list as tables, pragma_foreign_key_list(tables.name) as keys
        where tables.schema = 'main' and tables.type = 'table'
          and keys."table" in ('templates', 'segments', 'domains')`,
  )
  return rows.map(({ column }) => column)
}
