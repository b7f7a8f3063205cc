/** A field to choose one of many: what is typed narrows the choices, arrows move, Enter chooses. */
import * as combobox from '@zag-js/combobox'
import { normalizeProps, useMachine } from '@zag-js/preact'
import type { InputHTMLAttributes } from 'preact'
import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks'
import { combobox as comboboxTexts } from '../text/en/combobox.ts'
import { addTexts, t } from '../text/text.ts'
import { Icon } from './icon.tsx'
import { Failed } from './state.tsx'

addTexts(comboboxTexts)

/** More choices are of no use to a person: the next letter narrows them. */
const MOST = 100

type Option = { value: string; label: string }

type ComboboxProps = {
  label: string
  options: readonly Option[]
  /** The value that is chosen; none if empty. */
  value: string
  onChoose(value: string): void
  /** The options are those of what is typed already. Without it, they are narrowed here. */
  onType?(text: string): void
  /** The options of what is typed are on their way, and `options` are those of an earlier text. */
  isBusy?: boolean
  /** Why there are no options for what is typed. It is shown in their place, and the field stays. */
  failure?: { error: unknown; onRetry(): void } | undefined
  /** The field takes the focus and shows its choices when it appears. */
  isOpenAtOnce?: boolean
}

/** Keys that mark another choice. */
const MOVES = new Set(['ArrowDown', 'ArrowUp'])

/** The package writes into the field what it knows, a frame late: a letter that was typed meanwhile would be lost. */
function machineOf(isTyping: { current: boolean }): combobox.Machine<Option> {
  const { implementations, ...rest } = combobox.machine as combobox.Machine<Option>
  const write = implementations?.actions?.syncInputValue
  return {
    ...rest,
    implementations: {
      ...implementations,
      actions: {
        ...implementations?.actions,
        syncInputValue: (params) => {
          if (!isTyping.current) write?.(params)
        },
      },
    },
  }
}

export default function Combobox(props: ComboboxProps) {
  const { label, options, value, onChoose, onType, isBusy = false, isOpenAtOnce = false } = props
  const { failure } = props
  const root = useRef<HTMLDivElement>(null)
  const [typed, setTyped] = useState('')
  const needle = typed.trim().toLocaleLowerCase()
  const isHit = (option: Option) => option.label.toLocaleLowerCase().includes(needle)
  const shown = (onType === undefined ? options.filter(isHit) : options).slice(0, MOST)
  // What is chosen is known by its name, also while the choices do not have it.
  const chosen = options.find((option) => option.value === value)
  const known = chosen === undefined || shown.includes(chosen) ? shown : [...shown, chosen]
  const isTyping = useRef(false)
  /** An arrow has marked a choice since the last letter. */
  const isPicked = useRef(false)
  const machine = useMemo(() => machineOf(isTyping), [])
  const service = useMachine(machine, {
    id: useId(),
    collection: combobox.collection({ items: known }),
    value: chosen === undefined ? [] : [value],
    defaultOpen: isOpenAtOnce,
    autoFocus: isOpenAtOnce,
    openOnClick: true,
    inputBehavior: 'autohighlight',
    onInputValueChange: ({ inputValue, reason }) => {
      // Only keys narrow: the name of what is chosen stands in the field too.
      isTyping.current = reason === 'input-change'
      isPicked.current = false
      const text = isTyping.current ? inputValue : ''
      setTyped(text)
      setEntered(false)
      onType?.(text)
    },
    onOpenChange: ({ open }) => {
      if (!open) setTyped('')
    },
    onInteractOutside: (event) => {
      // To try again closes nothing, and what is typed stays.
      if (root.current?.contains(event.detail.target as Node) === true) event.preventDefault()
    },
    onValueChange: ({ value: [wanted] }) => {
      if (wanted !== undefined && wanted !== value) onChoose(wanted)
    },
  })
  const api = combobox.connect(service, normalizeProps)
  const input = api.getInputProps() as InputHTMLAttributes
  // The first choice is marked one frame after the letter that brought it, and Enter may come sooner.
  const isMarked = shown.some((option) => option.value === api.highlightedValue)
  const isEarly = () => api.open && needle !== '' && !(isMarked && (isPicked.current || !isBusy))
  const [isEntered, setEntered] = useState(false)
  useEffect(() => {
    if (!isEntered || isBusy) return
    setEntered(false)
    const [first] = shown
    if (!api.open || first === undefined) return
    api.selectValue(first.value)
    api.setOpen(false)
  }, [isEntered, isBusy])
  return (
    <div {...api.getRootProps()} ref={root} class="field combobox">
      {/* biome-ignore lint/a11y/noLabelWithoutControl: its properties name the field. */}
      <label {...api.getLabelProps()} class="label">
        {label}
      </label>
      <div {...api.getControlProps()} class="control">
        <input
          {...input}
          class="input"
          spellcheck={false}
          onClick={(event) => {
            input.onClick?.(event)
            if (!api.open) event.currentTarget.select()
          }}
          onKeyDown={(event) => {
            // The first letter takes the place of the name of what is chosen.
            const isLetter = event.key.length === 1 && !event.ctrlKey && !event.metaKey
            if (isLetter && typed === '') event.currentTarget.select()
            const isEnter = event.key === 'Enter' && !event.isComposing
            if (MOVES.has(event.key)) isPicked.current = true
            if (!isEnter || !isEarly()) return input.onKeyDown?.(event)
            event.preventDefault()
            setEntered(true)
          }}
        />
        <button {...api.getTriggerProps()} class="btn quiet icon" aria-label={t('combobox.open')}>
          <Icon name="down" />
        </button>
      </div>
      {/* In a popover there is nothing to lie over: the choices stand below the field. */}
      <div {...(isOpenAtOnce ? {} : api.getPositionerProps())}>
        <ul
          {...api.getContentProps()}
          class={`options-list${isBusy ? ' dimmed' : ''}`}
          aria-busy={isBusy}
        >
          {shown.map((option) => (
            <li key={option.value} {...api.getItemProps({ item: option })}>
              {option.label}
            </li>
          ))}
        </ul>
        {failure !== undefined && (
          <Failed
            error={failure.error}
            onRetry={() => {
              root.current?.querySelector('input')?.focus()
              failure.onRetry()
            }}
          />
        )}
        {api.open && !isBusy && failure === undefined && shown.length === 0 && (
          <p class="small muted" role="status">
            {t('combobox.none')}
          </p>
        )}
      </div>
    </div>
  )
}
