/** Generates texts that match a pattern of the rules and contain a given branch of it. */

type Node =
  | { kind: 'text'; text: string }
  | { kind: 'any' }
  | { kind: 'sequence'; parts: Node[] }
  | { kind: 'choice'; id: number; options: Node[] }
  | { kind: 'repeat'; id: number; part: Node; min: number; max: number }
  | { kind: 'nothing' }

/** One option of a choice, with its source for the failure message. */
type Branch = { id: number; option: number; source: string }

type Pattern = { branches: Branch[]; sample: (branch: Branch, seed: number) => string }

const MAX_REPEATS = 2

export function readPattern(source: string): Pattern {
  let at = 0
  let nextId = 0
  const branches: Branch[] = []

  function parseChoice(): Node {
    const id = nextId
    nextId += 1
    const options: Node[] = []
    do {
      const start = at
      const option = parseSequence()
      branches.push({ id, option: options.length, source: source.slice(start, at) })
      options.push(option)
    } while (source[at] === '|' && ++at)
    return { kind: 'choice', id, options }
  }

  function parseSequence(): Node {
    const parts: Node[] = []
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      parts.push(parseRepeat(parseOne()))
    }
    return { kind: 'sequence', parts }
  }

  function parseRepeat(part: Node): Node {
    const found = /^(?:\{(\d+)(?:,(\d+))?\}|[?*+])/.exec(source.slice(at))
    if (found === null) return part
    at += found[0].length
    const sign = found[0]
    const min = sign === '+' ? 1 : Number(found[1] ?? 0)
    const max = sign === '?' ? 1 : Number(found[2] ?? found[1] ?? MAX_REPEATS)
    const id = nextId
    nextId += 1
    return { kind: 'repeat', id, part, min, max: Math.max(min, Math.min(max, MAX_REPEATS)) }
  }

  function parseOne(): Node {
    const rest = source.slice(at)
    const lookaround = /^\(\?<?[=!]/.exec(rest)
    if (lookaround) return skipLookaround(lookaround[0].length)
    if (rest.startsWith('(')) return parseGroup()
    const set = /^\[(\^?)((?:\\.|[^\]\\])*)\]/.exec(rest)
    if (set) {
      at += set[0].length
      return { kind: 'text', text: fromSet(set[1] === '^', set[2] ?? '') }
    }
    const escaped = /^\\(.)/.exec(rest)
    at += escaped ? 2 : 1
    if (escaped) return fromEscape(escaped[1] ?? '')
    if (rest[0] === '^' || rest[0] === '$') return { kind: 'nothing' }
    return rest[0] === '.' ? { kind: 'any' } : { kind: 'text', text: rest[0] ?? '' }
  }

  function parseGroup(): Node {
    at += source.startsWith('(?:', at) ? 3 : 1
    const inner = parseChoice()
    at += 1
    return inner
  }

  /** Skips a lookahead: among the texts of many seeds, some satisfy it by chance. */
  function skipLookaround(length: number): Node {
    at += length
    const known = branches.length
    parseChoice()
    branches.length = known
    at += 1
    return { kind: 'nothing' }
  }

  const root = parseChoice()
  return { branches, sample: (branch, seed) => write(root, branch, makePick(seed)) }
}

type Pick = (options: number) => number

function makePick(seed: number): Pick {
  let state = seed
  return (options) => {
    if (seed === 0) return 0
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
    return (state >>> 16) % options
  }
}

function write(node: Node, branch: Branch, pick: Pick): string {
  if (node.kind === 'nothing') return ''
  if (node.kind === 'text') return node.text
  if (node.kind === 'any') return pick(2) === 0 ? ' ' : 'q'
  if (node.kind === 'sequence') return node.parts.map((one) => write(one, branch, pick)).join('')
  if (node.kind === 'choice') {
    const chosen = leadsTo(node, branch) ?? pick(node.options.length)
    const option = node.options[chosen]
    return option === undefined ? '' : write(option, branch, pick)
  }
  const least = holds(node.part, branch) ? Math.max(1, node.min) : node.min
  const count = least + pick(Math.max(1, node.max - least + 1))
  return Array.from({ length: count }, () => write(node.part, branch, pick)).join('')
}

/** The option that contains the branch. */
function leadsTo(node: Extract<Node, { kind: 'choice' }>, branch: Branch): number | undefined {
  if (node.id === branch.id) return branch.option
  const within = node.options.findIndex((option) => holds(option, branch))
  return within === -1 ? undefined : within
}

function holds(node: Node, branch: Branch): boolean {
  if (node.kind === 'choice') {
    return node.id === branch.id || node.options.some((option) => holds(option, branch))
  }
  if (node.kind === 'sequence') return node.parts.some((part) => holds(part, branch))
  return node.kind === 'repeat' && holds(node.part, branch)
}

function fromSet(isNegated: boolean, members: string): string {
  if (isNegated) {
    const set = new RegExp(`[^${members}]`)
    return ['q', '-', ' '].find((one) => set.test(one)) ?? ''
  }
  const first = members[0] ?? ''
  if (first === '\\') return fromEscapeText(members[1] ?? '')
  return first
}

function fromEscape(letter: string): Node {
  return letter === 'b' || letter === 'B'
    ? { kind: 'nothing' }
    : { kind: 'text', text: fromEscapeText(letter) }
}

function fromEscapeText(letter: string): string {
  const samples: Record<string, string> = { d: '7', w: 'q', S: 'q', s: ' ', W: ' ', D: 'q' }
  return samples[letter] ?? letter
}
