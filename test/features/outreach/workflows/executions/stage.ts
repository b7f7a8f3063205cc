/** A project with contacts and a workflow, for tests of executions. */
import { eq } from '../../../../../src/store/drizzle.ts'
import {
  workflowExecutions,
  workflowFigures,
  workflows,
} from '../../../../../src/store/schema/workflows.ts'
import { addProject, openTestCore, type TestCore, type TestProject } from '../../../../core.ts'
import { addContacts } from '../../../people/contacts/add-contacts.ts'
import { type AddedWorkflow, addWorkflow, type NewWorkflow } from '../add-workflow.ts'

export type Stage = {
  core: TestCore
  project: TestProject
  workflow: AddedWorkflow
  key: { projectId: string; id: string }
  /** Ids. */
  people: string[]
}

/** `people`: how many contacts there are. */
export async function openStage(
  t: Parameters<typeof openTestCore>[0],
  { people = 1, ...fields }: Partial<NewWorkflow> & { people?: number } = {},
): Promise<Stage> {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const workflow = await addWorkflow(core, {
    projectId: project.id,
    steps: [{ type: 'TRIGGER' }, { type: 'DELAY' }, { type: 'EXIT' }],
    ...fields,
  })
  const given = Array.from({ length: people }, (_, index) => ({ email: `p${index}@people.test` }))
  const ids = await addContacts(core, project.id, given)
  const key = { projectId: project.id, id: workflow.id }
  return { core, project, workflow, key, people: ids }
}

export const workflowOf = ({ core, key }: Stage) =>
  core.store.read.select().from(workflows).where(eq(workflows.id, key.id)).get()

export const executionsOf = ({ core, key }: Stage) =>
  core.store.read
    .select()
    .from(workflowExecutions)
    .where(eq(workflowExecutions.workflowId, key.id))
    .orderBy(workflowExecutions.number)
    .all()

/** By `<subject> <figure>`, without counts of 0. */
export async function figuresOf({ core, key }: Stage): Promise<Record<string, number>> {
  const rows = await core.store.read
    .select()
    .from(workflowFigures)
    .where(eq(workflowFigures.workflowId, key.id))
    .all()
  const counted = rows.filter(({ count }) => count !== 0)
  return Object.fromEntries(
    counted.map(({ subject, figure, count }) => [`${subject} ${figure}`.trim(), count]),
  )
}
