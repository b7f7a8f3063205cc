/**
 * Texts on which a regular expression may take many steps. An attack repeats a pump: a character or two
 * that its loops take, the text of one iteration, or the text that leads to a loop, so that a search begins
 * again and again. The prefix leads to a loop, and the suffix is not matched, so that the search goes back.
 */
import { characterSet, isIn } from './character-set.ts'
import type { RegexNode } from './parse-regex.ts'
import { innerNodes, type Program } from './program.ts'

export type Attack = { prefix: string; pump: string; suffix: string }

/** What the loops of the regular expression share is looked for among these. */
const CANDIDATES = [
  'a09_ ',
  ...Array.from({ length: 0x80 }, (_, i) => String.fromCharCode(i)),
  '\u00a0\u00e9\u00ff\u0130\u0131\u017f\u0301\u0444\u200b\u2013\u2028\u212a\u4e2d\ufeff\ufffd\u{1f600}',
].join('')
const ESCAPE = /\\(?:u\{?|x)([\da-f]{2,6})\}?|\\[a-z]/gi
const MAX_CHARACTERS = 16
const MAX_PAIRED = 6
const MAX_VARIANTS = 3
/** A loop with fewer iterations is no loop to attack. */
const MANY = 8

type Loop = { prefix: string; bodies: string[] }

export function* listAttacks(program: Program): Generator<Attack> {
  const alphabet = listCharacters(program)
  const sampler = new Sampler(program, alphabet.characters)
  const loops = sampler.listLoops(program.root)
  const pumps = new Set(alphabet.characters.slice(0, MAX_CHARACTERS))
  const paired = alphabet.characters.slice(0, MAX_PAIRED)
  for (const one of paired) for (const other of paired) pumps.add(one + other)
  for (const { prefix, bodies } of loops) {
    for (const body of bodies) pumps.add(body).add(prefix + body)
    pumps.add(prefix)
  }
  for (const whole of sampler.variants(program.root)) pumps.add(whole)
  pumps.delete('')
  if (pumps.size === 0) pumps.add(alphabet.outside)
  const prefixes = new Set(['', ...loops.map(({ prefix }) => prefix)])
  const { outside } = alphabet
  // Neither a run of `.` nor one of `\s` takes all of the second.
  const suffixes = ['', `${outside}\n${outside}`]
  for (const prefix of prefixes) {
    for (const pump of pumps) {
      for (const suffix of suffixes) yield { prefix, pump, suffix }
    }
  }
}

/** The text of an attack, at least of this length. */
export function attackText({ prefix, pump, suffix }: Attack, length: number): string {
  const repeated = Math.ceil(Math.max(0, length - prefix.length - suffix.length) / pump.length)
  return prefix + pump.repeat(repeated) + suffix
}

/** Whether a loop takes at least as many characters. */
export function hasLoop(node: RegexNode, iterations: number): boolean {
  if (node.kind === 'repeat' && node.max >= iterations) return true
  return innerNodes(node).some((inner) => hasLoop(inner, iterations))
}

/** One character of each kind that the sets distinguish, those of most loops first. */
function listCharacters(program: Program): { characters: string[]; outside: string } {
  const sets = program.sets.map((source) => characterSet(source, program.regex))
  const inLoops = new Set(listLoopSets(program.root, false).map((set) => program.sets.indexOf(set)))
  const literals = program.sets.join('').replace(ESCAPE, characterOf)
  const kinds = new Map<string, { char: string; weight: number }>()
  let outside = '\u0001'
  for (const char of new Set(CANDIDATES + literals)) {
    const members = sets.map((set) => isIn(set, char.codePointAt(0)!))
    const kind = members.map(Number).join('')
    if (kinds.has(kind)) continue
    const weight = members.reduce((sum, is, i) => sum + (is ? (inLoops.has(i) ? 100 : 1) : 0), 0)
    if (weight === 0 && char !== '\n') outside = char
    kinds.set(kind, { char, weight })
  }
  const ranked = [...kinds.values()].filter(({ weight }) => weight > 0)
  ranked.sort((a, b) => b.weight - a.weight)
  return { characters: ranked.map(({ char }) => char), outside }
}

function characterOf(_: string, hex?: string): string {
  return hex === undefined ? '' : String.fromCodePoint(Number.parseInt(hex, 16))
}

function listLoopSets(node: RegexNode, isInLoop: boolean): string[] {
  if (node.kind === 'set') return isInLoop ? [node.source] : []
  const isLoop = isInLoop || (node.kind === 'repeat' && node.max >= MANY)
  return innerNodes(node).flatMap((inner) => listLoopSets(inner, isLoop))
}

/** Makes texts that a part of the regular expression matches. */
class Sampler {
  private readonly program: Program
  private readonly characters: string[]

  constructor(program: Program, characters: string[]) {
    this.program = program
    this.characters = characters
  }

  /** Every loop, with a text that leads to it. */
  listLoops(node: RegexNode, prefix = ''): Loop[] {
    if (node.kind === 'sequence') {
      let before = prefix
      return node.parts.flatMap((part) => {
        const loops = this.listLoops(part, before)
        before += this.variants(part)[0] ?? ''
        return loops
      })
    }
    const isLoop = node.kind === 'repeat' && node.max >= MANY
    const own = isLoop ? [{ prefix, bodies: this.variants(node.body) }] : []
    return [...own, ...innerNodes(node).flatMap((inner) => this.listLoops(inner, prefix))]
  }

  /** A few texts; the first is among the shortest. */
  variants(node: RegexNode): string[] {
    switch (node.kind) {
      case 'set':
        return [this.member(node.source)]
      case 'choice':
        return node.options.flatMap((option) => this.variants(option)).slice(0, 2 * MAX_VARIANTS)
      case 'capture':
        return this.variants(node.body)
      case 'repeat': {
        const bodies = this.variants(node.body)
        const least = bodies.map((body) => body.repeat(node.min))
        return [...new Set([...least, ...bodies])].slice(0, MAX_VARIANTS)
      }
      case 'sequence': {
        const parts = node.parts.map((part) => this.variants(part))
        const count = Math.min(MAX_VARIANTS, Math.max(1, ...parts.map(({ length }) => length)))
        const pick = (i: number) => parts.map((texts) => texts[i % texts.length] ?? '').join('')
        return Array.from({ length: count }, (_, i) => pick(i))
      }
      default:
        return ['']
    }
  }

  private member(source: string): string {
    const set = characterSet(source, this.program.regex)
    return this.characters.find((char) => isIn(set, char.codePointAt(0)!)) ?? ''
  }
}
