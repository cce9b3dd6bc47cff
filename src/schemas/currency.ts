/**
 * Three-letter ISO 4217 code. The list, of the twenty most traded currencies, is for completion only: the spec names no
 * closed set. As a parameter, any three capital letters are accepted; the service may send any text.
 */
export type CurrencyCode =
  | 'AUD'
  | 'BRL'
  | 'CAD'
  | 'CHF'
  | 'CNY'
  | 'DKK'
  | 'EUR'
  | 'GBP'
  | 'HKD'
  | 'INR'
  | 'JPY'
  | 'KRW'
  | 'MXN'
  | 'NOK'
  | 'NZD'
  | 'SEK'
  | 'SGD'
  | 'TWD'
  | 'USD'
  | 'ZAR'
  | (string & {});
