/**
 * Caches compiled templates and precomposed bodies by the text of the template, because emails with
 * contents of their own often have the same text. The number and the memory of the cached templates
 * are bounded.
 */
import { createLru } from '../../base/lru.ts'
import { createFieldMemo, type FieldMemo } from '../compose/field-memo.ts'
import type { FooterKind } from '../html/footer.ts'
import { type LinkNumbers, numberLinks } from '../html/links.ts'
import type { Tracker } from '../html/tracking.ts'
import type { TextFormat } from '../template/print.ts'
import {
  type CompiledTemplate,
  type CompileOptions,
  compileTemplate,
} from '../template/template.ts'
import { type PrecomposedBody, precomposeBody } from './body.ts'

export type PreparedTemplate = {
  template: CompiledTemplate
  /** The numbers of the links in the template text. */
  numbers(): LinkNumbers
  /**
   * Returns the precomposed body for HTML, from the second message of a kind on: for a single
   * message, precomposing would cost more than it saves.
   */
  precomposed(kind: BodyKind): PrecomposedBody | undefined
}

/** `footer`: undefined for messages without a footer. */
type BodyKind = { footer: FooterKind | undefined; isTracked: boolean }

/** The cache of one thread; `tracker` and `memo` serve all messages of the thread. */
export type TemplateCache = {
  tracker: Tracker
  memo: FieldMemo
  prepare(source: string, kind: CompileOptions & { format: TextFormat }): PreparedTemplate
}

/** `bodies`: the number of precomposed bodies. */
type CachedTemplate = { kinds: Map<string, PreparedTemplate>; bodies: number }

const MAX_BYTES = 32 * 1024 * 1024
/** Bytes that a text counts at least, so that the cache holds at most 200 texts. */
const MIN_BYTES = Math.ceil(MAX_BYTES / 200)
/**
 * Bytes that one text may count: its bodies with footers in many languages could evict all other
 * texts.
 */
const MAX_BYTES_PER_TEXT = MAX_BYTES / 8
/** Estimated bytes of the document around a body. */
const BYTES_PER_TEMPLATE = 8_000
/** Estimated bytes for each character: of the plain text, and of its encoded form in two parts. */
const BYTES_PER_CHARACTER = 10
/** Estimated bytes for each parsed marker. */
const BYTES_PER_MARKER = 1_000
/**
 * Estimated bytes for the last value of each slot: 250 characters, as printed and in both forms
 * (`body.ts`).
 */
const BYTES_PER_SLOT = 6_000

export function createTemplateCache(tracker: Tracker): TemplateCache {
  const templates = createLru<CachedTemplate>(MAX_BYTES, {
    sizeOf: ({ bodies }, source) => Math.max(MIN_BYTES, sizeOf(source, bodies)),
  })

  /** Reserves memory for another precomposed body of the text; the first body always fits. */
  function reserve(source: string): boolean {
    const entry = templates.get(source)
    if (entry === undefined) return false
    const bodies = entry.bodies + 1
    if (bodies > 1 && sizeOf(source, bodies) > MAX_BYTES_PER_TEXT) return false
    templates.set(source, { ...entry, bodies })
    return true
  }

  return {
    tracker,
    memo: createFieldMemo(),
    prepare(source, { format, isPlain = false, isLiteral = false }) {
      const kind = isLiteral ? `${format} literal` : isPlain ? `${format} plain` : format
      const { kinds, bodies } = templates.get(source) ?? { kinds: new Map(), bodies: 0 }
      const known = kinds.get(kind)
      if (known !== undefined) return known
      const template = compileTemplate(source, format, { isPlain, isLiteral })
      const prepared = prepare(template, { tracker, reserve: () => reserve(source) })
      kinds.set(kind, prepared)
      if (kinds.size === 1) templates.set(source, { kinds, bodies })
      return prepared
    },
  }
}

type PrepareDeps = { tracker: Tracker; reserve: () => boolean }

function prepare(template: CompiledTemplate, { tracker, reserve }: PrepareDeps): PreparedTemplate {
  const { pieces, format, source } = template
  const uses = new Map<string, { count: number; body: PrecomposedBody | undefined }>()
  let known: LinkNumbers | undefined

  function numbers(): LinkNumbers {
    known ??= numberLinks(source)
    return known
  }

  function make({ footer, isTracked }: BodyKind): PrecomposedBody | undefined {
    if (format !== 'html' || pieces === undefined || !reserve()) return undefined
    const { baseUrl } = tracker
    const tracking = isTracked ? { baseUrl, numbers: numbers() } : undefined
    return precomposeBody(pieces, { footer, tracking })
  }

  return {
    template,
    numbers,
    precomposed(kind) {
      const { footer } = kind
      const name = `${footer?.language} ${footer?.hasPostalAddress} ${kind.isTracked}`
      const use = uses.get(name) ?? { count: 0, body: undefined }
      uses.set(name, use)
      use.count += 1
      if (use.count === 2) use.body = make(kind)
      return use.body
    },
  }
}

function sizeOf(source: string, bodies: number): number {
  let markers = 0
  for (let at = source.indexOf('{'); at !== -1; at = source.indexOf('{', at + 1)) {
    if (source[at + 1] === '{' || source[at + 1] === '%') markers += 1
  }
  const shared = BYTES_PER_TEMPLATE + source.length * BYTES_PER_CHARACTER
  const slots = bodies * markers * BYTES_PER_SLOT
  return Math.max(1, bodies) * shared + slots + markers * BYTES_PER_MARKER
}
