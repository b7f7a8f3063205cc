/** Validates the fields of a segment. */
import {
  type FieldError,
  invalid,
  invalidField,
  NOT_ONE_LINE_TEXT,
  tooLongText,
} from '../../../base/errors.ts'
import { isOneFieldLine } from '../../../formats/one-line.ts'
import { MAX_DESCRIPTION_LENGTH, MAX_NAME_LENGTH } from '../../../records/limits.ts'
import type { SegmentType } from '../../../store/schema/words.ts'
import { type Condition, parseCondition } from '../../ground/conditions/condition.ts'

export type SegmentTexts = { name?: string | undefined; description?: string | null | undefined }

/** Checks the texts that are present. @throws AppError VALIDATION_ERROR */
export function checkTexts({ name, description }: SegmentTexts): void {
  const wrong: FieldError[] = []
  if (name === '') wrong.push({ field: 'name', code: 'too_small', message: 'Must not be empty' })
  if (name !== undefined && name.length > MAX_NAME_LENGTH) {
    wrong.push(tooLong('name', MAX_NAME_LENGTH))
  }
  if (name !== undefined && !isOneFieldLine(name)) {
    wrong.push({ field: 'name', code: 'invalid_string', message: NOT_ONE_LINE_TEXT })
  }
  if ((description?.length ?? 0) > MAX_DESCRIPTION_LENGTH) {
    wrong.push(tooLong('description', MAX_DESCRIPTION_LENGTH))
  }
  if (wrong.length > 0) throw invalid(wrong)
}

/**
 * Returns the condition of a segment of this type; null for a STATIC segment.
 * @throws AppError VALIDATION_ERROR with the path of each error
 */
export function readCondition(type: SegmentType, value: unknown): Condition | null {
  const isGiven = value !== undefined && value !== null
  if (type === 'DYNAMIC' && isGiven) return parseCondition(value, 'condition')
  if (type === 'STATIC' && !isGiven) return null
  if (type === 'STATIC')
    throw invalidField('condition', 'custom', 'A STATIC segment has no condition')
  throw invalidField('condition', 'invalid_type', 'A DYNAMIC segment needs a condition')
}

function tooLong(field: string, max: number): FieldError {
  return { field, code: 'too_big', message: tooLongText(max) }
}
