/** The transitions of a workflow, one by one. */
import {
  addTransition,
  deleteTransition,
  insertStep as insert,
} from '../../../features/outreach/workflows/definition/add-step.ts'
import { stepRecord, transitionRecord } from '../../../records/workflow.ts'
import { eventOf, warnOfLiveError, warnOfSilentEvents } from '../../edit-warnings.ts'
import { readIfMatch } from '../../exchange/if-match.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { json, noContent } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { editedKeyOf, uuidParameterOf, viewedKeyOf } from '../../uuid-key.ts'
import * as examples from './examples.ts'
import { insertedStep, newTransition } from './fields.ts'

const shared = { tag: 'Workflows' } as const

export const add = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Add a transition between two steps',
    description:
      'A CONDITION has one transition for each branch, a WAIT_FOR_EVENT one for each outcome, any ' +
      'other step one. Nothing leads to the TRIGGER, nothing follows an EXIT, and there are no loops.',
    body: newTransition,
    responses: { 201: { description: 'The transition', schema: transitionRecord } },
    refusals: [404, 412],
    example: examples.addTransition,
    handle: async (call) => {
      const isExpected = readIfMatch(call.incoming)
      const edit = { ...viewedKeyOf(call), isExpected, transition: call.body }
      const added = await addTransition(core, edit)
      await warnOfLiveError(core, call, { from: added.toStepId, field: 'toStepId' })
      return json(201, added)
    },
  })

export const insertStep = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Insert a step into a transition',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'The transition leads to the new step, and that on to the step after it: a CONDITION on its ' +
      'first branch (`yes`), a WAIT_FOR_EVENT on its event.',
    body: insertedStep,
    responses: { 201: { description: 'The step', schema: stepRecord } },
    refusals: [404, 412],
    example: examples.insertStep,
    handle: async (call) => {
      const isExpected = readIfMatch(call.incoming)
      const transitionId = uuidParameterOf(call, 'transitionId')
      const edit = { ...editedKeyOf(call), isExpected, transitionId, step: call.body }
      const inserted = await insert(core, edit)
      await warnOfSilentEvents(core, call, [eventOf(call.body.config, 'config')])
      await warnOfLiveError(core, call, { stepId: inserted.id })
      return largeJson(201, inserted)
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Remove a transition',
    description:
      'Refused with 409 while the workflow is enabled and executions stand at a step after it.',
    responses: { 204: { description: 'Removed' } },
    refusals: [404, 409, 412],
    example: examples.removeTransition,
    handle: async (call) => {
      const isExpected = readIfMatch(call.incoming)
      const transitionId = uuidParameterOf(call, 'transitionId')
      await deleteTransition(core, { ...viewedKeyOf(call), isExpected, transitionId })
      return noContent()
    },
  })
