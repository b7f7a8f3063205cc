/**
 * Templates made ready, by their text: emails that each have a content of their own often say the
 * same. Bounded by number and by what the templates take in memory.
 */
import { LRUCache } from 'lru-cache'
import { type LinkNumbers, numberLinks } from '../html/links.ts'
import type { Tracker } from '../html/tracking.ts'
import type { Language } from '../languages.ts'
import type { TextFormat } from '../template/print.ts'
import {
  type CompiledTemplate,
  type CompileOptions,
  compileTemplate,
} from '../template/template.ts'
import { type PrecomposedBody, precomposeBody } from './body.ts'

export type PreparedTemplate = {
  template: CompiledTemplate
  /** Of the links in the text itself. */
  numbers(): LinkNumbers
  /** Of HTML, from the second message of a kind on: a text that is sent once gains nothing by it. */
  stencil(kind: MessageKind): PrecomposedBody | undefined
}

/** The language of its footer, if it has one. */
export type MessageKind = { footer: Language | undefined; isTracked: boolean }

/** One a thread; `tracker` is that of all its messages. */
export type TemplateCache = {
  tracker: Tracker
  prepare(source: string, kind: CompileOptions & { format: TextFormat }): PreparedTemplate
}

type Entry = { kinds: Map<string, PreparedTemplate>; stencils: number }

const MAX_TEMPLATES = 200
const MAX_BYTES = 32 * 1024 * 1024
/** Of one text: in several languages of the footer it could crowd out all others. */
const MAX_BYTES_A_TEXT = MAX_BYTES / 8
/** The document around a body; text, as it is and encoded for two parts; a marker, parsed. */
const BYTES_A_TEMPLATE = 8_000
const BYTES_A_CHARACTER = 10
const BYTES_A_MARKER = 1_000

export function createTemplateCache(tracker: Tracker): TemplateCache {
  const templates = new LRUCache<string, Entry>({
    max: MAX_TEMPLATES,
    maxSize: MAX_BYTES,
    sizeCalculation: ({ stencils }, source) => sizeOf(source, stencils),
  })

  /** Whether there is room for another stencil of the text; the first has its place. */
  function reserve(source: string): boolean {
    const entry = templates.get(source)
    if (entry === undefined) return false
    const stencils = entry.stencils + 1
    if (stencils > 1 && sizeOf(source, stencils) > MAX_BYTES_A_TEXT) return false
    templates.set(source, { ...entry, stencils })
    return true
  }

  return {
    tracker,
    prepare(source, { format, isPlain = false }) {
      const kind = isPlain ? `${format} plain` : format
      const { kinds, stencils } = templates.get(source) ?? { kinds: new Map(), stencils: 0 }
      const known = kinds.get(kind)
      if (known !== undefined) return known
      const template = compileTemplate(source, format, { isPlain })
      const prepared = prepare(template, { tracker, reserve: () => reserve(source) })
      kinds.set(kind, prepared)
      if (kinds.size === 1) templates.set(source, { kinds, stencils })
      return prepared
    },
  }
}

type Means = { tracker: Tracker; reserve: () => boolean }

function prepare(template: CompiledTemplate, { tracker, reserve }: Means): PreparedTemplate {
  const { pieces, format, source } = template
  const uses = new Map<string, { count: number; stencil: PrecomposedBody | undefined }>()
  let known: LinkNumbers | undefined

  function numbers(): LinkNumbers {
    known ??= numberLinks(source)
    return known
  }

  function make({ footer, isTracked }: MessageKind): PrecomposedBody | undefined {
    if (format !== 'html' || pieces === undefined || !reserve()) return undefined
    const { baseUrl } = tracker
    const tracking = isTracked ? { baseUrl, numbers: numbers() } : undefined
    return precomposeBody(pieces, { footer, tracking })
  }

  return {
    template,
    numbers,
    stencil(kind) {
      const name = `${kind.footer} ${kind.isTracked}`
      const use = uses.get(name) ?? { count: 0, stencil: undefined }
      uses.set(name, use)
      use.count += 1
      if (use.count === 2) use.stencil = make(kind)
      return use.stencil
    },
  }
}

function sizeOf(source: string, stencils: number): number {
  let bytes = BYTES_A_TEMPLATE + source.length * BYTES_A_CHARACTER
  bytes *= Math.max(1, stencils)
  for (let at = source.indexOf('{'); at !== -1; at = source.indexOf('{', at + 1)) {
    if (source[at + 1] === '{' || source[at + 1] === '%') bytes += BYTES_A_MARKER
  }
  return bytes
}
