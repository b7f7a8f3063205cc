/**
 * Counts the steps of a backtracking search. A step looks at a character or a place, or goes back. V8
 * skips some (a literal that a match needs is searched for first), which saves a factor and no power.
 */
import { type CharacterSet, characterSet, isIn, TABLE_SIZE, unionOf } from './character-set.ts'
import { OP, PLACES, type Program } from './program.ts'

export type Search = {
  /** Steps of all matches in the text, one after the other. */
  steps: number
  /** Offsets of the matches. */
  matches: [start: number, end: number][]
  /** Whether the search was given up after `maxSteps`. */
  isCut: boolean
}

const UNDO = -1
const { MATCH, SET, SET_BEHIND, SPLIT, JUMP, SAVE, PLACE, LOOK, REFERENCE } = OP
const { SET_REGISTER, COUNT, COUNT_MORE, PROGRESS } = OP

export class StepCounter {
  private readonly program: Program
  private readonly sets: CharacterSet[]
  private readonly word: CharacterSet
  private readonly first: CharacterSet | undefined
  private text = ''
  private steps = 0
  private maxSteps = 0
  private readonly registers: Int32Array
  /** Of the search, and above it those of each lookaround within it. */
  private stack = new Int32Array(1_024)
  private top = 0
  /** The code points or code units of the text that begin at each offset. */
  private chars = new Int32Array(0)

  constructor(program: Program) {
    this.program = program
    this.registers = new Int32Array(program.registers)
    this.sets = program.sets.map((source) => characterSet(source, program.regex))
    this.word = characterSet('\\w', program.regex)
    this.first = program.first && unionOf(program.first, program.regex)
  }

  /** Finds every match, as `String.prototype.matchAll` does. A sticky search ends where none is. */
  search(text: string, maxSteps = Number.POSITIVE_INFINITY): Search {
    Object.assign(this, { text, maxSteps, steps: 0, top: 0 })
    this.readCharacters()
    const matches: Search['matches'] = []
    const last = this.program.isAnchored ? 0 : text.length
    for (let at = 0; at <= last && this.steps <= maxSteps; ) {
      this.steps += 1
      const end = this.canBegin(at) ? this.match(at) : -1
      if (end === -1 && this.program.regex.sticky) break
      if (end >= 0 && this.steps <= maxSteps) matches.push([at, end])
      at = end > at ? end : at + this.widthAt(at)
    }
    return { steps: this.steps, matches, isCut: this.steps > maxSteps }
  }

  private canBegin(at: number): boolean {
    const { first } = this
    return first === undefined || isIn(first, this.charAt(at))
  }

  private match(at: number): number {
    this.registers.fill(-1)
    return this.run(0, at)
  }

  /** The end of the match of the program from `from` on at this offset, or -1. */
  private run(from: number, startedAt: number): number {
    const { program, text, chars, registers, maxSteps } = this
    const { code, loops } = program
    const bottom = this.top
    let { steps } = this
    let pc = from
    let at = startedAt
    for (;;) {
      const a = code[pc + 1]!
      const b = code[pc + 2]!
      let isOk = true
      switch (code[pc]) {
        case MATCH:
          return this.end(bottom, steps, at)
        case SET: {
          steps += 1
          const char = at < chars.length ? chars[at]! : -1
          const set = this.sets[a]!
          isOk = char >= 0 && char < TABLE_SIZE ? set.table[char] === 1 : isIn(set, char)
          at += char > 0xffff ? 2 : 1
          pc += 3
          break
        }
        case SET_BEHIND: {
          steps += 1
          const char = this.charBefore(at)
          isOk = isIn(this.sets[a]!, char)
          at -= char > 0xffff ? 2 : 1
          pc += 3
          break
        }
        case SPLIT:
          this.push(b, at)
          pc = a
          break
        case JUMP:
          pc = a
          break
        case SAVE:
          this.write(a, at)
          pc += 3
          break
        case SET_REGISTER:
          this.write(a, b)
          pc += 3
          break
        case PLACE:
          steps += 1
          isOk = this.isPlace(a, at)
          pc += 3
          break
        case LOOK: {
          this.steps = steps
          const isFound = this.run(pc + 3, at) !== -1
          steps = this.steps
          isOk = isFound === (b === 0)
          pc = a
          break
        }
        case REFERENCE: {
          const start = registers[2 * a]!
          const end = registers[2 * a + 1]!
          const length = start === -1 || end === -1 ? 0 : end - start
          steps += 1 + length
          const from = b === 1 ? at - length : at
          isOk = this.isSame(text.slice(start, start + length), text.slice(from, from + length))
          at += b === 1 ? -length : length
          pc += 3
          break
        }
        case COUNT: {
          const loop = loops[b]!
          const count = registers[a]!
          const isMore = count < loop.min || (count < loop.max && !loop.isLazy)
          if (count >= loop.min && count < loop.max) this.push(isMore ? loop.exit : pc + 3, at)
          if (isMore) this.write(a, count + 1)
          pc = isMore ? loop.body : loop.exit
          break
        }
        case COUNT_MORE:
          this.write(a, registers[a]! + 1)
          pc = loops[b]!.body
          break
        case PROGRESS:
          isOk = registers[a] !== at
          pc += 3
      }
      if (isOk) continue
      if (steps > maxSteps) return this.end(bottom, steps, -1)
      // Back to the last choice.
      const { stack } = this
      let { top } = this
      for (;;) {
        if (top === bottom) return this.end(bottom, steps, -1)
        top -= 2
        pc = stack[top]!
        at = stack[top + 1]!
        if (pc >= 0) break
        registers[UNDO - pc] = at
      }
      this.top = top
      steps += 1
    }
  }

  private end(bottom: number, steps: number, at: number): number {
    this.top = bottom
    this.steps = steps
    return at
  }

  private push(pc: number, at: number): void {
    if (this.top === this.stack.length) {
      const larger = new Int32Array(2 * this.top)
      larger.set(this.stack)
      this.stack = larger
    }
    this.stack[this.top] = pc
    this.stack[this.top + 1] = at
    this.top += 2
  }

  private write(register: number, value: number): void {
    this.push(UNDO - register, this.registers[register]!)
    this.registers[register] = value
  }

  private readCharacters(): void {
    const { text, program } = this
    const chars = new Int32Array(text.length)
    for (let at = 0; at < chars.length; at += 1) {
      chars[at] = program.isUnicode ? text.codePointAt(at)! : text.charCodeAt(at)
    }
    this.chars = chars
  }

  private charAt(at: number): number {
    return at < this.chars.length ? this.chars[at]! : -1
  }

  private charBefore(at: number): number {
    const { text, program } = this
    if (at <= 0) return -1
    const isPair = program.isUnicode && at > 1 && text.codePointAt(at - 2)! > 0xffff
    return isPair ? text.codePointAt(at - 2)! : text.charCodeAt(at - 1)
  }

  private widthAt(at: number): number {
    return this.charAt(at) > 0xffff ? 2 : 1
  }

  private isPlace(place: number, at: number): boolean {
    const { text, program } = this
    const before = at > 0 ? text.charCodeAt(at - 1) : -1
    const after = at < text.length ? text.charCodeAt(at) : -1
    const isLine = (char: number) => program.isMultiline && isLineEnd(char)
    if (PLACES[place] === 'start') return before === -1 || isLine(before)
    if (PLACES[place] === 'end') return after === -1 || isLine(after)
    const isEdge = this.isWord(before) !== this.isWord(after)
    return isEdge === (PLACES[place] === 'word edge')
  }

  private isWord(char: number): boolean {
    return isIn(this.word, char)
  }

  private isSame(one: string, other: string): boolean {
    if (!this.program.regex.ignoreCase) return one === other
    return one.toLowerCase() === other.toLowerCase()
  }
}

function isLineEnd(char: number): boolean {
  return char === 0x0a || char === 0x0d || char === 0x2028 || char === 0x2029
}
