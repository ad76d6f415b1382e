//! What operations keep on a device.

use std::any::Any;
use std::sync::OnceLock;

/// One value of each type that was asked for: a list that only grows, so that it is read without a lock.
#[derive(Default)]
pub(super) struct Caches(OnceLock<Box<Cache>>);

struct Cache {
    value: Box<dyn Any + Send + Sync>,
    next: Caches,
}

impl Caches {
    /// The value of this type, its default at first.
    pub(super) fn get<C: Default + Send + Sync + 'static>(&self) -> &C {
        let mut list = self;
        loop {
            let make = || Box::new(Cache { value: Box::<C>::default(), next: Self::default() });
            let cache = list.0.get_or_init(make);
            if let Some(value) = cache.value.downcast_ref() {
                return value;
            }
            list = &cache.next;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[test]
    fn each_type_has_one_value() {
        let caches = Caches::default();
        *caches.get::<Mutex<u32>>().lock().unwrap() += 1;
        *caches.get::<Mutex<i64>>().lock().unwrap() -= 2;
        *caches.get::<Mutex<u32>>().lock().unwrap() += 1;
        assert_eq!(*caches.get::<Mutex<u32>>().lock().unwrap(), 2);
        assert_eq!(*caches.get::<Mutex<i64>>().lock().unwrap(), -2);
    }
}
