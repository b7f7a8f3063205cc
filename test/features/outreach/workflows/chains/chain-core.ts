/** A project with a runner of workflows, and events of any depth. */
import type { TestContext } from 'node:test'
import { appendEvent } from '../../../../../src/features/ground/events/append.ts'
import { recordEventByAddress } from '../../../../../src/features/people/contacts/events/contact-events.ts'
import { asc, gt } from '../../../../../src/store/drizzle.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { workflowExecutions } from '../../../../../src/store/schema/workflows.ts'
import { addProject, address, openTestCore } from '../../../../core.ts'
import { addContacts } from '../../../people/contacts/add-contacts.ts'
import { createRunner } from '../engine/run-due.ts'
import { buildWorkflow, type StepSpec } from '../engine/workflow-rows.ts'

export async function openChains(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const runner = await createRunner(core)
  t.after(runner.stop)

  /** An event of the API. */
  const track = (event: string, request: object = {}) =>
    recordEventByAddress(core, {
      projectId,
      request: { event, address: address('ada@example.net'), ...request },
    })

  /** An event that an execution would have made. */
  const make = (name: string, contactId: string, depth?: number) =>
    core.store.write((tx) =>
      appendEvent(tx, {
        ...{ projectId, name, contactId, emailId: null, data: null, at: core.now() },
        ...(depth === undefined ? {} : { depth }),
      }),
    )

  /** `people`: how many. Returns their ids. */
  const addPeople = (people: number) =>
    addContacts(
      core,
      projectId,
      Array.from({ length: people }, (_, index) => ({ email: `p${index}@people.test` })),
    )

  /** A workflow of one step that any contact may begin again. */
  const flow = (event: string, step: StepSpec = EXIT, fields: object = {}) =>
    buildWorkflow(core, {
      ...{ projectId, event, name: `on ${event}`, steps: { step }, allowsReentry: true },
      transitions: [['trigger', 'step']],
      ...fields,
    })

  const executions = () =>
    core.store.read.select().from(workflowExecutions).orderBy(asc(workflowExecutions.number)).all()

  const eventsAfter = (seq: number) =>
    core.store.read.select().from(events).where(gt(events.seq, seq)).orderBy(asc(events.seq)).all()

  return { core, projectId, runner, track, make, addPeople, flow, executions, eventsAfter }
}

export const EXIT: StepSpec = { type: 'EXIT' }

export const subscribing = (subscriptionAction: 'subscribe' | 'unsubscribe'): StepSpec => ({
  type: 'UPDATE_CONTACT',
  config: { subscriptionAction },
})

/** How many rows have each value, in the order of the first row. */
export function countBy<Row>(rows: readonly Row[], value: (row: Row) => string) {
  return Object.fromEntries(
    [...Map.groupBy(rows, value)].map(([key, group]) => [key, group.length]),
  )
}
