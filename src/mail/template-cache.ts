/**
 * Templates made ready, by their text: emails that each have a content of their own often say the
 * same. Bounded by number and by what the templates take in memory.
 */
import { LRUCache } from 'lru-cache'
import { makeStencil, type Stencil } from './stencil.ts'
import type { Target } from './template/print.ts'
import { type CompiledTemplate, type CompileOptions, compileTemplate } from './template.ts'

/** `stencil`: of HTML, from the second message on: a text that is sent once gains nothing by it. */
export type PreparedTemplate = {
  template: CompiledTemplate
  stencil(): Stencil | undefined
}

/** One a thread. */
export type TemplateCache = {
  prepare(source: string, kind: CompileOptions & { target: Target }): PreparedTemplate
}

type Kinds = Map<string, PreparedTemplate>

const MAX_TEMPLATES = 200
const MAX_BYTES = 32 * 1024 * 1024
/** The document around a body; text, as it is and encoded for two parts; a marker, parsed. */
const BYTES_A_TEMPLATE = 8_000
const BYTES_A_CHARACTER = 8
const BYTES_A_MARKER = 1_000

export function createTemplateCache(): TemplateCache {
  const templates = new LRUCache<string, Kinds>({
    max: MAX_TEMPLATES,
    maxSize: MAX_BYTES,
    sizeCalculation: (_, source) => sizeOf(source),
  })
  return {
    prepare(source, { target, isPlain = false }) {
      const kind = isPlain ? `${target} plain` : target
      const kinds: Kinds = templates.get(source) ?? new Map()
      const known = kinds.get(kind)
      if (known !== undefined) return known
      const prepared = prepare(compileTemplate(source, target, { isPlain }))
      kinds.set(kind, prepared)
      if (kinds.size === 1) templates.set(source, kinds)
      return prepared
    },
  }
}

function prepare(template: CompiledTemplate): PreparedTemplate {
  const { pieces, target } = template
  let uses = 0
  let stencil: Stencil | undefined
  return {
    template,
    stencil() {
      uses += 1
      if (uses === 2 && target === 'html' && pieces !== undefined) stencil = makeStencil(pieces)
      return stencil
    },
  }
}

function sizeOf(source: string): number {
  let bytes = BYTES_A_TEMPLATE + source.length * BYTES_A_CHARACTER
  for (let at = source.indexOf('{'); at !== -1; at = source.indexOf('{', at + 1)) {
    if (source[at + 1] === '{' || source[at + 1] === '%') bytes += BYTES_A_MARKER
  }
  return bytes
}
