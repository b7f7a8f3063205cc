/** Two new keys to copy. */
import { useLayoutEffect, useRef } from 'preact/hooks'
import { t } from '../../text/text.ts'
import { Copy } from '../../ui/copy.tsx'
import type { NewKeyPair } from '../../ui/fresh-keys.ts'

type KeyBoxProps = {
  keys: NewKeyPair
  /** Takes the focus when it appears, because what had it is gone. */
  takesFocus?: boolean
  onKept(): void
}

export function KeyBox({ keys, takesFocus = false, onKept }: KeyBoxProps) {
  const element = useRef<HTMLParagraphElement>(null)
  useLayoutEffect(() => {
    if (takesFocus) element.current?.focus()
  }, [])
  return (
    <div class="stack grow">
      <p ref={element} tabIndex={-1}>
        {t('first.newKey.once')}
      </p>
      {(['secret', 'public'] as const).map((kind) => (
        <div key={kind}>
          <p class="small strong">{t(`first.newKey.${kind}`)}</p>
          <div class="key-line">
            <code class="code wrap">{keys[kind]}</code>
            <Copy text={keys[kind]} isIcon />
          </div>
        </div>
      ))}
      <p>
        <button class="btn" type="button" onClick={onKept}>
          {t('first.newKey.done')}
        </button>
      </p>
    </div>
  )
}
