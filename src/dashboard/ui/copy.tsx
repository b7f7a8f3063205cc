/** A button that copies a text. Without access to the clipboard it selects nothing and says nothing false. */
import { useState } from 'preact/hooks'
import { t } from '../text/text.ts'
import { Icon } from './icon.tsx'

type CopyProps = {
  text: string
  /** What is copied, for readers of an icon alone. */
  label?: string
  isIcon?: boolean
}

export function Copy({ text, label = t('copy.button'), isIcon = false }: CopyProps) {
  const [isDone, setDone] = useState(false)
  const copy = async ({ currentTarget }: { currentTarget: HTMLButtonElement }) => {
    try {
      await navigator.clipboard.writeText(text)
    } catch {
      if (!copyBySelection(text, currentTarget)) return
    }
    setDone(true)
    setTimeout(() => setDone(false), 2_000)
  }
  const shown = isDone ? t('copy.done') : label
  return (
    <button
      class={`btn ${isIcon ? 'quiet icon' : ''}`}
      type="button"
      onClick={copy}
      {...(isIcon && { 'aria-label': shown, title: shown })}
    >
      <Icon name={isDone ? 'check' : 'copy'} />
      {!isIcon && <span aria-live="polite">{shown}</span>}
    </button>
  )
}

/**
 * Over plain HTTP to another machine, browsers have no clipboard for pages. Returns whether it worked. What is
 * outside of an open dialog cannot be selected.
 */
function copyBySelection(text: string, button: HTMLButtonElement): boolean {
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'sr'
  const place = button.closest('dialog') ?? document.body
  place.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  button.focus()
  return isCopied
}
