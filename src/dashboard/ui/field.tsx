/** An input with its label above, and below it the hint, or in place of the hint what is wrong. */
import type { ComponentChildren, InputHTMLAttributes } from 'preact'
import { useId } from 'preact/hooks'
import type { Form } from './form.tsx'

/** What the control of a field needs to belong to it. */
type ControlProps = {
  id: string
  name: string
  class: 'input'
  'aria-invalid': 'true' | undefined
  'aria-describedby': string | undefined
}

type FieldProps = {
  form: Form
  /** The path of the field in the request. */
  name: string
  label: ComponentChildren
  hint?: ComponentChildren
  /** Stands at the end of the label's line, for example a link. */
  aside?: ComponentChildren
  /** The control: `<input>`, `<select>` or `<textarea>`. */
  children(control: ControlProps): ComponentChildren
}

export function Field({ form, name, label, hint, aside, children }: FieldProps) {
  const id = useId()
  const fault = form.faults[name]
  const isDescribed = fault !== undefined || hint !== undefined
  return (
    <div class="field">
      <div class="label">
        <label for={id}>{label}</label>
      </div>
      {children({
        ...{ id, name, class: 'input' },
        'aria-invalid': fault === undefined ? undefined : 'true',
        'aria-describedby': isDescribed ? `${id}-text` : undefined,
      })}
      {/* After the control: the key Tab goes from field to field. */}
      {aside !== undefined && <div class="beside">{aside}</div>}
      {fault !== undefined ? (
        <p class="fault" id={`${id}-text`} lang={fault.isForeign ? 'en' : undefined}>
          {fault.text}
        </p>
      ) : (
        hint !== undefined && (
          <p class="hint" id={`${id}-text`}>
            {hint}
          </p>
        )
      )}
    </div>
  )
}

type TextFieldProps = Omit<FieldProps, 'children'> & {
  type?: 'text' | 'email' | 'password' | 'url' | 'number' | 'search'
  defaultValue?: string
  required?: boolean
  minLength?: number
  maxLength?: number
  pattern?: string
  inputMode?: 'numeric' | 'text'
  /** What password managers and keyboards fill in: `username`, `current-password`, `one-time-code`, `off` … */
  autocomplete?: string
  /** A name or a code: keyboards neither check nor capitalize it. */
  isLiteral?: boolean
}

/** A field of one line. What stands in it is the browser's until the form is sent. */
export function TextField(props: TextFieldProps) {
  const { form, name, label, hint, aside, isLiteral = false, ...input } = props
  const literal = { autocapitalize: 'none', spellcheck: false } as const
  return (
    <Field form={form} name={name} label={label} hint={hint} aside={aside}>
      {(control) => {
        const attributes = { type: 'text', ...input, ...(isLiteral && literal), ...control }
        // The types know each type of input as a case of its own.
        return <input {...(attributes as InputHTMLAttributes)} />
      }}
    </Field>
  )
}
