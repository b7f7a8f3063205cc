/** Warns of an error in an edit of an enabled workflow, where the edit takes effect at once. */
import { type Edited, findLiveError } from '../features/outreach/workflows/definition/validate.ts'
import type { ProjectCall, RouteDeps } from './route.ts'
import { uuidKeyOf } from './uuid-key.ts'

/** `field`: the field of the request that the warning names. */
export async function warnOfLiveError(
  core: RouteDeps['core'],
  call: ProjectCall<unknown, unknown>,
  { field, ...edited }: Edited & { field?: string } = {},
): Promise<void> {
  const found = await findLiveError(core, { ...uuidKeyOf(call), ...edited })
  if (found === undefined) return
  const isOfTemplate = found.code === 'no_template' || found.code === 'template_missing'
  call.warn({
    field: field ?? (isOfTemplate ? 'templateId' : 'config'),
    message: `The workflow is enabled, so executions meet an error: ${found.message}`,
    suggestion: found.fix,
  })
}
