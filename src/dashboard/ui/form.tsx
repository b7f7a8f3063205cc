/**
 * Forms of native inputs. The browser's constraints are looked at when an input loses the focus and before
 * anything is sent; the faults of a 422 go to the inputs by their paths. What was typed always stays.
 */
import type { ComponentChildren, RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ApiFailure, type FieldFault } from '../api/client.ts'
import { faultOfInput, mapFaults } from '../logic/form-faults.ts'
import { type TextKey, t } from '../text/text.ts'
import { useCountdown } from './countdown.ts'
import { Failed } from './state.tsx'

/** `isForeign`: the words of the server, which are English. */
type Fault = { text: string; isForeign?: boolean }
type Faults = Readonly<Record<string, Fault>>

/** A refusal that belongs to one input, thrown by what a form sends. */
export class FieldRefusal extends Error {
  readonly field: string
  readonly isForeign: boolean

  constructor(field: string, text: string, { isForeign = false } = {}) {
    super(text)
    this.field = field
    this.isForeign = isForeign
  }
}

export type Form = {
  faults: Faults
  /** What failed and belongs to no input. */
  failure: unknown
  /** Faults of a 422 whose fields are not in the form. */
  rest: readonly FieldFault[]
  isRunning: boolean
  /** For the element `<form>`. */
  props: {
    ref: RefObject<HTMLFormElement | null>
    noValidate: true
    onSubmit(event: Event): void
    onFocusOut(event: FocusEvent): void
    onInput(event: Event): void
  }
}

/** Own words for faults of the server, by `<field>.<code>`. */
type Words = Readonly<Record<string, TextKey>>

/**
 * `send` gets the values of the inputs by their names, and resolves when the form has done its work.
 * A `FieldRefusal` and an `ApiFailure` are shown; others too, as faults of the server.
 */
export function useForm(
  send: (values: Readonly<Record<string, string>>) => Promise<void>,
  { words = {} }: { words?: Words } = {},
): Form {
  const ref = useRef<HTMLFormElement>(null)
  const isBusy = useRef(false)
  const wantsFocus = useRef(false)
  const [faults, setFaults] = useState<Faults>({})
  const [outcome, setOutcome] = useState<{ failure?: unknown; rest: readonly FieldFault[] }>({
    rest: [],
  })
  const [isRunning, setRunning] = useState(false)
  useLayoutEffect(() => {
    if (!wantsFocus.current) return
    wantsFocus.current = false
    inputsOf(ref.current)
      .find(({ name }) => faults[name] !== undefined)
      ?.focus()
  }, [faults])

  const refuse = (found: Faults) => {
    wantsFocus.current = true
    setFaults(found)
  }
  const show = (error: unknown) => {
    if (error instanceof FieldRefusal) {
      refuse({ [error.field]: { text: error.message, isForeign: error.isForeign } })
      return
    }
    const names = inputsOf(ref.current).map(({ name }) => name)
    const { byName, rest } = mapFaults(error instanceof ApiFailure ? error.fields : [], names)
    const found = Object.entries(byName).map(([name, fault]) => [name, describe(fault, words)])
    refuse(Object.fromEntries(found))
    if (found.length === 0 || rest.length > 0) setOutcome({ failure: error, rest })
  }
  const submit = async () => {
    setOutcome({ rest: [] })
    const found = checkAll(ref.current)
    if (Object.keys(found).length > 0) {
      refuse(found)
      return
    }
    setFaults({})
    isBusy.current = true
    setRunning(true)
    try {
      await send(valuesOf(ref.current))
    } catch (error) {
      show(error)
    } finally {
      isBusy.current = false
      setRunning(false)
    }
  }
  return {
    ...{ faults, isRunning, failure: outcome.failure, rest: outcome.rest },
    props: {
      ref,
      noValidate: true,
      onSubmit: (event) => {
        event.preventDefault()
        if (!isBusy.current) void submit()
      },
      onFocusOut: ({ target, relatedTarget }) => {
        const input = target as HTMLInputElement
        // The click on the button checks everything, and a fault that shows before it would move the button away.
        if (relatedTarget instanceof HTMLButtonElement) return
        // An input that was only passed is not blamed for being empty.
        if (isInput(input) && input.value !== '') setFaults(withFault(faults, input))
      },
      onInput: ({ target }) => {
        const { name } = target as HTMLInputElement
        if (faults[name] !== undefined) setFaults(without(faults, name))
      },
    },
  }
}

type FormBoxProps = { form: Form; class?: string; children: ComponentChildren }

/** The element of the form, with what failed above its button. */
export function FormBox({ form, class: className = 'stack', children }: FormBoxProps) {
  return (
    <form class={className} {...form.props}>
      {children}
    </form>
  )
}

/** What failed and belongs to no input. */
export function FormFailure({ form }: { form: Form }) {
  const { failure, rest } = form
  if (failure === undefined) return null
  return (
    <div>
      <Failed error={failure} title={t('form.failed')} />
      {rest.length > 0 && (
        <ul class="small" lang="en">
          {rest.map(({ field, message }) => (
            <li key={field}>
              <code>{field}</code>: {message}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

type SubmitProps = {
  form: Form
  children: ComponentChildren
  class?: string
  /** Why nothing can be sent. */
  obstacle?: string | undefined
}

/** The button that sends. It keeps the focus while it runs, and counts down while the server asks to wait. */
export function Submit({ form, children, class: className = 'main', obstacle }: SubmitProps) {
  const { failure, isRunning } = form
  const wait = failure instanceof ApiFailure ? (failure.retryAfter ?? 0) : 0
  const left = useCountdown(wait, failure)
  const isOff = isRunning || left > 0
  return (
    <button
      class={`btn ${className}`}
      type="submit"
      disabled={obstacle !== undefined}
      title={obstacle}
      aria-disabled={isOff ? 'true' : undefined}
      aria-busy={isRunning ? 'true' : undefined}
      onClick={(event) => {
        if (isOff) event.preventDefault()
      }}
    >
      {isRunning && <span class="spinner" aria-hidden="true" />}
      {left > 0 ? t('state.againIn', { count: left }) : children}
    </button>
  )
}

type Input = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement

function inputsOf(form: HTMLFormElement | null): Input[] {
  return [...(form?.elements ?? [])].filter((one): one is Input => isInput(one))
}

function isInput(element: Element): boolean {
  return (
    (element instanceof HTMLInputElement ||
      element instanceof HTMLSelectElement ||
      element instanceof HTMLTextAreaElement) &&
    element.name !== ''
  )
}

function valuesOf(form: HTMLFormElement | null): Record<string, string> {
  const entries = form === null ? [] : [...new FormData(form)]
  return Object.fromEntries(entries.map(([name, value]) => [name, String(value)]))
}

function checkAll(form: HTMLFormElement | null): Faults {
  return inputsOf(form).reduce(withFault, {})
}

function withFault(faults: Faults, input: Input): Faults {
  const { validity, value, type, name } = input
  const minLength = input instanceof HTMLSelectElement ? -1 : input.minLength
  const found = faultOfInput({ validity, value, type, minLength })
  if (found === undefined) return faults[name] === undefined ? faults : without(faults, name)
  return { ...faults, [name]: { text: t(`form.${found.kind}`, { count: found.count }) } }
}

function without(faults: Faults, name: string): Faults {
  const { [name]: _gone, ...others } = faults
  return others
}

function describe({ field, code, message }: FieldFault, words: Words): Fault {
  const own = words[`${field}.${code}`]
  return own === undefined ? { text: message, isForeign: true } : { text: t(own) }
}
