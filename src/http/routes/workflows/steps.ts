/** The steps of a workflow, one by one. */
import { z } from 'zod'
import { addStep } from '../../../features/outreach/workflows/definition/add-step.ts'
import {
  deleteStep,
  updateStep,
} from '../../../features/outreach/workflows/definition/edit-step.ts'
import { stepRecord } from '../../../records/workflow.ts'
import { eventOf, warnOfLiveError, warnOfSilentEvents } from '../../edit-warnings.ts'
import { readIfMatch } from '../../exchange/if-match.ts'
import { largeJson, RECORD_ANSWER_BYTES } from '../../exchange/large-json.ts'
import { noContent } from '../../response.ts'
import { projectOperation, type RouteDeps } from '../../route.ts'
import { editedKeyOf, uuidParameterOf, viewedKeyOf } from '../../uuid-key.ts'
import * as examples from './examples.ts'
import { newStep, stepChanges } from './fields.ts'

const shared = { tag: 'Workflows' } as const

const deletion = z.object({
  splice: z.enum(['true', 'false']).default('false').meta({
    description: 'Removes the step alone: the steps before it lead to the one after it',
  }),
})

export const add = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Add a step',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'Unless `autoConnect` is false, the newest step that nothing follows leads to the new one, on ' +
      'its first branch or outcome.',
    body: newStep,
    responses: { 201: { description: 'The step', schema: stepRecord } },
    refusals: [404, 412],
    example: examples.addStep,
    handle: async (call) => {
      const isExpected = readIfMatch(call.incoming)
      const { autoConnect, ...step } = call.body
      const added = await addStep(core, { ...editedKeyOf(call), isExpected, step, autoConnect })
      await warnOfSilentEvents(core, call, [eventOf(step.config, 'config')])
      await warnOfLiveError(core, call, { stepId: added.id })
      return largeJson(201, added)
    },
  })

export const update = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Change a step',
    answerBytes: RECORD_ANSWER_BYTES,
    description:
      'Changes the fields that are given; a `templateId` of null detaches the template. A header of a ' +
      'WEBHOOK whose value is `***` stays as it is. Config and ' +
      'template cannot change while the workflow is enabled and has active executions.',
    names: { ways: { type: 'Add a step of that type, and delete this one' } },
    body: stepChanges,
    responses: { 200: { description: 'The step after the change', schema: stepRecord } },
    refusals: [400, 404, 409, 412],
    example: examples.updateStep,
    handle: async (call) => {
      const isExpected = readIfMatch(call.incoming)
      const stepId = uuidParameterOf(call, 'stepId')
      const edit = { ...editedKeyOf(call), isExpected, stepId, changes: call.body }
      const changed = await updateStep(core, edit)
      await warnOfSilentEvents(core, call, [eventOf(call.body.config, 'config')])
      await warnOfLiveError(core, call, { stepId })
      return largeJson(200, changed)
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Remove a step and all that follows it',
    description:
      'With `splice=true` only the step. Refused with 409 while the workflow is enabled and ' +
      'executions stand at what would be removed; in a disabled workflow these are cancelled.',
    query: deletion,
    responses: { 204: { description: 'Removed' } },
    refusals: [400, 404, 409, 412],
    example: examples.removeStep,
    handle: async (call) => {
      const isExpected = readIfMatch(call.incoming)
      const stepId = uuidParameterOf(call, 'stepId')
      const splice = call.query.splice === 'true'
      await deleteStep(core, { ...viewedKeyOf(call), isExpected, stepId, splice })
      return noContent()
    },
  })
