/**
 * Names that are near those of fields: a column that is mapped to `subscribd`, or has that name, becomes a key
 * of the data, and nobody is unsubscribed by it. A misspelt `email` is an error of its own.
 */

import type { FieldWarning } from '../../../../base/errors.ts'
import { findClosest } from '../../../../config/layers/closest.ts'

const STATES = ['subscribed', 'unsubscribed']
/** The key of the data that the service reads. */
const TARGETS = [...STATES, 'locale']
/** Names of something else. */
const OTHERS = ['subscriber', 'subscribers', 'locate', 'scale', 'local', 'locals', 'vocal', 'focal']

const MAX_WARNINGS = 10
/** Longer names are near none, and take long to compare. */
const MAX_NAME_LENGTH = 20

type Names = {
  mapping: readonly (readonly [header: string, target: string | null])[]
  /** Headers in lower case that the mapping does not name and that say nothing of the subscription. */
  headers: readonly string[]
}

export function findNearNames({ mapping, headers }: Names): FieldWarning[] {
  const targets = mapping.flatMap(([header, target]) => {
    const near = target === null ? undefined : nearest(target, TARGETS)
    return near === undefined ? [] : [warningOf(`mapping.${header}`, target ?? '', near)]
  })
  const columns = headers.flatMap((header) => {
    const near = nearest(header, STATES)
    return near === undefined ? [] : [warningOf(header, header, near)]
  })
  return [...targets, ...columns].slice(0, MAX_WARNINGS)
}

function nearest(name: string, fields: readonly string[]): string | undefined {
  const lower = name.toLowerCase()
  const known = lower.length > MAX_NAME_LENGTH || OTHERS.includes(lower) || fields.includes(name)
  return known ? undefined : findClosest(lower, fields)
}

function warningOf(field: string, key: string, near: string): FieldWarning {
  const message = `The column becomes the key "${key}" of the data; did you mean ${near}?`
  return { field, message, suggestion: near }
}
