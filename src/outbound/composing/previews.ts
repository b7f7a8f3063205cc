/**
 * On the main thread: renders, inspects and signs messages for reading in composing threads. A request is
 * rendered in portions, and between them others have their turn. A source that takes too long is
 * rendered alone; one that ends the thread is rendered again without running its templates; one that
 * ends it twice has no preview.
 */
import type {
  MessageSource,
  RenderedMessage,
  RenderSource,
} from '../../formats/compose/build-message.ts'
import type { SigningKey } from '../../formats/compose/dkim.ts'
import type { InspectedMessage, MessageRules } from '../../formats/compose/message-findings.ts'
import type { Preview } from '../protocol.ts'
import { contentBytes, extraMs } from './contents.ts'
import type { ThreadTasks } from './thread-tasks.ts'

type Previews = {
  /** Resolves to null for sources that cannot be rendered. Rejects as `ThreadTasks.run`. */
  preview(sources: readonly RenderSource[]): Promise<readonly (RenderedMessage | null)[]>
  /** Renders messages as `preview` does, but returns what the rules find in them. */
  inspect(
    sources: readonly RenderSource[],
    rules: MessageRules,
  ): Promise<readonly (InspectedMessage | null)[]>
}

/** Sources that are rendered together, from the position `at` in the request. */
type Portion = { at: number; sources: readonly RenderSource[]; hasEnded: boolean }

const PORTION_SOURCES = 20
const PORTION_BYTES = 128 * 1024

/** A message that is not composed yet. Without keys it is not signed. */
export type UnsignedMessage = { source: MessageSource; keys: readonly SigningKey[] }

export function createPreviews(tasks: Pick<ThreadTasks, 'run'>): Previews {
  /** Asks the thread for the messages, or with `rules` for what it finds in them. */
  async function ask<Answer extends Preview>(
    sources: readonly RenderSource[],
    rules: MessageRules | undefined,
  ): Promise<readonly (Answer | null)[]> {
    const shown: (Answer | null)[] = []
    const todo = portionsOf(sources)
    for (let portion = todo.shift(); portion !== undefined; portion = todo.shift()) {
      const { at } = portion
      const rendered = await render(tasks, portion.sources, rules)
      if (rendered?.result != null) {
        for (const [index, each] of rendered.result.entries()) shown[at + index] = each as Answer
      } else if (portion.sources.length > 1) todo.unshift(...alone(portion))
      else if (rendered === undefined && !portion.hasEnded) todo.unshift(plain(portion))
      else shown[at] = null
    }
    return shown
  }

  return {
    preview: (sources) => ask<RenderedMessage>(sources, undefined),
    inspect: (sources, rules) => ask<InspectedMessage>(sources, rules),
  }
}

/** Resolves to undefined if the sources ended the thread; `result` is null if rendering failed. */
function render(
  { run }: Pick<ThreadTasks, 'run'>,
  sources: readonly RenderSource[],
  rules: MessageRules | undefined,
) {
  return run<readonly Preview[] | null>({
    ask: (task) => ({ type: 'preview', task, sources, rules }),
    read(message) {
      if (message.type === 'preview failed') return { result: null }
      return message.type === 'previewed' ? { result: message.messages } : undefined
    },
    extraMs: msForBytes(sources),
  })
}

function msForBytes(sources: readonly RenderSource[]): number {
  return sources.reduce((sum, { content }) => sum + extraMs(content), 0)
}

function portionsOf(sources: readonly RenderSource[]): Portion[] {
  const portions: { at: number; sources: RenderSource[]; hasEnded: boolean }[] = []
  let bytes = 0
  for (const [at, source] of sources.entries()) {
    bytes += contentBytes(source.content)
    const open = portions.at(-1)
    const hasSpace = open !== undefined && open.sources.length < PORTION_SOURCES
    if (hasSpace && bytes <= PORTION_BYTES) open.sources.push(source)
    else {
      portions.push({ at, sources: [source], hasEnded: false })
      bytes = contentBytes(source.content)
    }
  }
  return portions
}

function alone({ at, sources }: Portion): Portion[] {
  return sources.map((source, index) => ({ at: at + index, sources: [source], hasEnded: false }))
}

function plain({ at, sources }: Portion): Portion {
  const [source] = sources
  if (source === undefined) throw new TypeError('a portion has a source')
  return { at, sources: [{ ...source, isPlain: true }], hasEnded: true }
}

/**
 * Composes and signs one message for reading, as delivery does. Returns its octets; null if it cannot be
 * composed. A message whose templates end the thread is composed without running them. Rejects as
 * `ThreadTasks.run`.
 */
export async function signInThread(
  tasks: Pick<ThreadTasks, 'run'>,
  message: UnsignedMessage,
): Promise<Uint8Array | null> {
  const first = await sign(tasks, message)
  if (first !== undefined) return first.result
  const plain = { ...message, source: { ...message.source, isPlain: true } }
  return (await sign(tasks, plain))?.result ?? null
}

function sign({ run }: Pick<ThreadTasks, 'run'>, message: UnsignedMessage) {
  return run<Uint8Array | null>({
    ask: (task) => ({ type: 'sign', task, ...message }),
    read(answer) {
      if (answer.type === 'not composed') return { result: null }
      return answer.type === 'composed' ? { result: answer.composed.octets } : undefined
    },
    extraMs: extraMs(message.source.content),
  })
}
