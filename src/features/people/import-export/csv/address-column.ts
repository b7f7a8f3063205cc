/**
 * The names of the address column in the languages of the hosted pages, as spreadsheets, mail programs
 * and newsletter services write them. They are compared without case, accents, blanks and punctuation,
 * and with full-width letters as ordinary ones: `E-Mail_Address` is `emailaddress`.
 */

import { normalize } from '../../../../base/nfc.ts'

const NAMES: Record<string, string[]> = {
  en: ['Email', 'Email address', 'Email addresses', 'Email ID', 'Electronic mail'],
  nl: ['E-mailadres', 'E-mail adressen', 'Mailadres'],
  fr: [
    ...['Courriel', 'Adresse courriel', 'Adresse de courriel', 'Mél', 'Adresse mél'],
    ...['Adresse e-mail', 'Adresse mail', 'Adresse électronique', 'Adresse de messagerie'],
    'Courrier électronique',
  ],
  hi: ['ईमेल', 'ई-मेल', 'ईमेल पता', 'ई-मेल पता', 'ईमेल आईडी'],
  de: ['E-Mail-Adresse', 'E-Mail-Adressen', 'Mail-Adresse', 'Elektronische Post'],
  pt: [
    ...['Endereço de e-mail', 'Endereço e-mail', 'Endereço eletrônico', 'Endereço eletrónico'],
    ...['Correio eletrônico', 'Correio eletrónico', 'Correio electrónico'],
  ],
  bg: [
    ...['Имейл', 'Е-мейл', 'Имейл адрес', 'Електронна поща', 'Е-поща', 'Ел. поща'],
    ...['Адрес на електронна поща', 'Електронен адрес'],
  ],
  cs: ['E-mailová adresa', 'Adresa e-mailu', 'Elektronická pošta', 'Elektronická adresa'],
  pl: [
    ...['Adres e-mail', 'Adres e-mailowy', 'Adres mailowy', 'Poczta elektroniczna'],
    'Adres poczty elektronicznej',
  ],
  es: [
    ...['Correo electrónico', 'Correo', 'Correo-e', 'Dirección de correo electrónico'],
    ...['Dirección de correo', 'Dirección de e-mail', 'Dirección e-mail', 'Dirección electrónica'],
  ],
  it: [
    ...['Indirizzo e-mail', 'Indirizzo mail', 'Indirizzo di posta elettronica'],
    ...['Posta elettronica', 'Indirizzo elettronico', 'Indirizzo di e-mail'],
  ],
  'zh-TW': ['電子郵件', '電子郵件地址', '電子信箱', '電郵', 'Email 地址'],
  'zh-HK': ['電郵地址', '電子郵箱', '電郵'],
  'zh-CN': ['电子邮件', '电子邮件地址', '电子邮箱', '邮箱', '邮箱地址', '电邮', '邮件地址'],
  ja: [
    ...['メールアドレス', 'メール', 'Eメール', 'Eメールアドレス', '電子メール', 'メアド'],
    ...['電子メールアドレス', 'E-mailアドレス'],
  ],
  sv: ['E-post', 'E-postadress', 'E-postadresser', 'Mejl', 'Mejladress', 'Mailadress'],
  cy: ['E-bost', 'Cyfeiriad e-bost', 'Cyfeiriadau e-bost'],
}

const SIMPLIFIED_NAMES = new Set(Object.values(NAMES).flat().map(simplifyName))

export const ADDRESS_COLUMN_NAMES: Readonly<Record<string, readonly string[]>> = NAMES

/** Whether a header names the address column, in a file without a column `email`. */
export function isAddressColumn(header: string): boolean {
  return SIMPLIFIED_NAMES.has(simplifyName(header))
}

/** Returns a name in the form in which names are compared. */
export function simplifyName(text: string): string {
  return normalize(text, 'NFKD')
    .toLowerCase()
    .replace(/[\p{M}\p{P}\p{Z}\p{S}\p{C}]/gu, '')
}
