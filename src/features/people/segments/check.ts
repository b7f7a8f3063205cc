/** Checks a segment for faults that its author may want to mend. Changes nothing. */
import { AppError } from '../../../base/errors.ts'
import type { MessageFinding } from '../../../formats/compose/message-findings.ts'
import type { Base } from '../../ground/base.ts'
import { findMisfits } from '../../ground/conditions/find-misfits.ts'
import { compileSegment, readSegmentCondition } from './contact-scope.ts'
import { loadSegment, type SegmentKey } from './segments.ts'

/**
 * Returns the findings, errors first; none for a STATIC segment. @throws AppError
 * RESOURCE_NOT_FOUND
 */
export async function checkSegment(
  deps: Pick<Base, 'store' | 'now'>,
  key: SegmentKey,
): Promise<{ findings: MessageFinding[] }> {
  const segment = await loadSegment(deps.store.read, key)
  if (segment.type === 'STATIC') return { findings: [] }
  try {
    await compileSegment(deps, segment)
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'BAD_REQUEST') throw error
    const { message } = error
    const fix = 'Give the segment another condition.'
    return { findings: [{ code: 'condition_invalid', severity: 'error', message, fix }] }
  }
  const { projectId, id: ofSegmentId } = key
  const condition = readSegmentCondition(segment)
  return { findings: await findMisfits(deps, { projectId, condition, ofSegmentId }) }
}
